# (odoo shell, started by ./late) Transactions that write early and commit late, plus what ordinary users cannot do: company names, customer ranks, raw SQL.
import json, os, random, time
n, S, RAW = int(os.environ['LATE_N']), float(os.environ['LATE_SECONDS']), os.environ['LATE_RAW'] == '1'
r = random.Random(1000 + n); end = time.time() + S; k = 0
mine = lambda ids: [i for i in ids if i % 10 == 8 + n % 2]
P = mine(env['product.product'].search([('default_code', 'not like', 'BIG'), ('company_id', '=', False)]).mapped('product_tmpl_id').ids); Q = mine(env['res.partner'].search([('name', 'like', 'Partner ')]).ids); env.cr.commit()
while time.time() < end:
    env.invalidate_all(); env.cr.rollback(); env.cr.now(); k += 1                     # the transaction (and its write_date) begins here
    hold = r.choice(json.loads(os.environ.get('LATE_HOLDS', '[5, 12, 20, 25]'))); done = []
    try:
        if k % 2: time.sleep(hold / 2)
        for t in env['product.template'].browse(r.sample(P, 3)):
            v = round(r.uniform(1, 900), 2); ids = t.with_context(active_test=False).product_variant_ids.ids; t.list_price = v; done.append(('late', 'product', ids, {'list_price': v}))
        p = env['res.partner'].browse(r.choice(Q)); p.name = f'Partner late {n}.{k}'; done.append(('late', 'partner', p.ids, {'name': p.name}))
        b = env['res.partner'].create({'name': f'Born late {n}.{k}'}); done.append(('late_create', 'partner', b.ids, {'name': b.name}))
        if k % 3 == 0: c = env['res.company'].browse(r.choice(env['res.company'].search([]).ids[1:])); c.name = f'Branch {n}.{k}'; done.append(('company', 'company', c.ids, {'name': c.name}))
        if k % 2 == 0: q = env['res.partner'].browse(r.choice(Q)); q._increase_rank('customer_rank'); done.append(('rank', 'rank', q.ids, {}))
        if RAW and k % 3 == 1: t = r.choice(P); env.cr.execute('UPDATE product_template SET list_price = list_price + 1 WHERE id = %s', (t,)); done.append(('raw', 'raw', [t], {}))
        env.flush_all(); time.sleep(hold / 2 if k % 2 else hold); env.cr.commit()
        for d in done: print(json.dumps(dict(zip(('op', 'model', 'ids', 'vals'), d))), flush=True)
    except Exception as e: env.cr.rollback(); print(str(e)[:200].replace('{', '('), flush=True)
