import { Modal } from '@mantine/core'
import { type FieldType, operatorsOf } from '../../api/catalog.ts'
import { wordOf } from '../../filter/operators.ts'
import { t } from '../../texts/texts.ts'

const keys = [
  ['/', 'filter'],
  ['j k', 'row'],
  ['Enter o', 'open'],
  ['e', 'edit'],
  ['Esc', 'close'],
  ['n p', 'page'],
  ['r', 'request'],
  ['Ctrl K', 'palette'],
  ['?', 'help'],
] as const

const types: readonly FieldType[] = ['text', 'integer', 'decimal', 'boolean', 'timestamp']

const examples: Readonly<Record<FieldType, string>> = {
  text: 'name*bolt',
  integer: 'categ_id[3,7]',
  decimal: 'list_price>=9.99',
  boolean: 'active=true',
  timestamp: 'write_date>=2026-11-14',
}

const notes = [
  ['a&b', 'and'],
  ['a|b', 'or'],
  ['(a|b)&c', 'group'],
  ['field=null', 'null'],
  ['name="R&D"', 'quotes'],
] as const

/** The keys, and the operators of each type. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={t.app.help} size={760}>
      <div className="help">
        <section>
          <h3>{t.help.keys}</h3>
          <dl>
            {keys.map(([key, name]) => (
              <div key={key}>
                <dt>
                  {key.split(' ').map((one) => (
                    <kbd key={one} className="key">
                      {one === 'Ctrl' ? t.help.ctrl : one}
                    </kbd>
                  ))}
                </dt>
                <dd>{t.help.keyTexts[name]}</dd>
              </div>
            ))}
          </dl>
          <h3>{t.help.combining}</h3>
          <dl>
            {notes.map(([text, name]) => (
              <div key={text}>
                <dt>
                  <code>{text}</code>
                </dt>
                <dd>{t.help.notes[name]}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section>
          <h3>{t.help.operators}</h3>
          {types.map((type) => (
            <div key={type} className="help-type">
              <h4>
                {type} <code>{examples[type]}</code>
              </h4>
              <p>
                {operatorsOf[type].map((operator) => (
                  <span key={operator}>
                    <code>{operator}</code> {wordOf(operator, type)}
                  </span>
                ))}
              </p>
            </div>
          ))}
          <p className="dim">
            {t.help.more} <a href="/reference">{t.app.reference}</a>
          </p>
        </section>
      </div>
    </Modal>
  )
}
