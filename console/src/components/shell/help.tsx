import { Modal } from '@mantine/core'
import { type FieldType, operatorsOf } from '../../api/catalog.ts'
import { wordOf } from '../../filter/operators.ts'

const keys = [
  ['/', 'Type a filter'],
  ['j k', 'Next and previous row'],
  ['Enter o', 'Open the record'],
  ['e', 'Edit the open record'],
  ['Esc', 'Close the side panel'],
  ['n p', 'Next and previous page (also ] and [)'],
  ['r', 'Show the request'],
  ['Ctrl K', 'Records, pages, actions, filters'],
  ['?', 'This help'],
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
  ['a&b', 'both conditions'],
  ['a|b', 'one of them; & binds tighter'],
  ['(a|b)&c', 'parentheses group'],
  ['field=null', 'the value is missing'],
  ['name="R&D"', 'quotes around a value with & | ( ) ,'],
] as const

/** The keys, and the operators of each type. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Help" size={760}>
      <div className="help">
        <section>
          <h3>Keys</h3>
          <dl>
            {keys.map(([key, text]) => (
              <div key={key}>
                <dt>
                  {key.split(' ').map((one) => (
                    <kbd key={one} className="key">
                      {one}
                    </kbd>
                  ))}
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
          <h3>Combining conditions</h3>
          <dl>
            {notes.map(([text, meaning]) => (
              <div key={text}>
                <dt>
                  <code>{text}</code>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section>
          <h3>Operators of each type</h3>
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
            More in the{' '}
            <a href="/reference" target="_blank" rel="noreferrer">
              API reference
            </a>
            .
          </p>
        </section>
      </div>
    </Modal>
  )
}
