import type { DataSet } from './data.ts'

/**
 * A selective filter for every field of a product and every operator of its type, chosen to fit the data. Negated
 * operators are selective only in the skewed data set; `id!=` and `id![]` never are, so they are left out.
 */
export const cases: Record<DataSet, readonly string[]> = {
  varied: filters(`
    id=77  id>{last}  id>={last}  id<100  id<=100  id[5,70,7000]
    name=Gear 98dce83d M19  name*c4ca42  name*98dce  name[Gear 98dce83d M19,Pump 0]
    default_code=C-0007919  default_code*-00079  default_code[C-0007919,C-0015838]
    list_price=12.5  list_price>995  list_price>=995  list_price<5  list_price<=5  list_price[1,2.5,3]
    qty_available=17  qty_available>4980  qty_available>=4980  qty_available<20  qty_available<=20  qty_available[17,18]
    active=false  active[false]  active!=true  active![true]
    categ_id=7  categ_id=null  categ_id>148  categ_id>=149  categ_id<1  categ_id<=0  categ_id[7,500]
    product_tmpl_id=77  product_tmpl_id>{third}  product_tmpl_id>={third}  product_tmpl_id<100  product_tmpl_id<=100  product_tmpl_id[77,78]
    is_rsd_product=true  is_rsd_product=false  is_rsd_product[true,false]  is_rsd_product!=null  is_rsd_product![null]
    create_date=2020-01-05  create_date>{lastDay}  create_date>={lastDay}  create_date<2020-01-02  create_date<=2020-01-02  create_date[2020-01-05,2020-01-07]
    write_date=2021-01-05  write_date>2026-09-05  write_date>=2026-09-05  write_date<2021-01-02  write_date<=2021-01-02  write_date[2021-01-05,2021-01-07]
    categ_id=7&active=false
    name*c4ca42|product_tmpl_id=77
    (id<50|id>{last})&active=true
  `),
  skewed: filters(`
    name!=Common article  name![Common article,Other]  name!*common
    default_code!=STANDARD  default_code![STANDARD]  default_code!*standard
    list_price!=9.99  list_price![9.99,1]
    qty_available!=-1  qty_available![-1]
    active!=true
    categ_id!=7  categ_id![7,8]
    product_tmpl_id!=null  product_tmpl_id![null,8]
    is_rsd_product!=null  is_rsd_product[true,false]
    create_date!=2019-06-01  create_date![2019-06-01]
    write_date!=2019-06-01  write_date![2019-06-01]
  `),
}

/** Two or more spaces separate filters; a filter may contain single spaces. */
function filters(text: string): readonly string[] {
  return text.trim().split(/\s{2,}/)
}

/** No index finds rows that do not contain a text: PostgreSQL scans the field's entire index instead of the table. */
export const fullIndexScans: ReadonlySet<string> = new Set(['name!*common', 'default_code!*standard'])

/** Filters that a large part of the varied records match, and no filter. */
export const broad: readonly string[] = [
  '',
  ...[
    'id>5',
    'name*a',
    'default_code!=null',
    'list_price<500',
    'qty_available>=1000',
    'active=true',
    'categ_id!=7',
    'product_tmpl_id>5',
    'create_date>2020-01-05',
    'write_date>2021-01-05',
    'active=true&list_price<500',
    'list_price<500|qty_available<2500',
  ].map((filter) => `&filter=${encodeURIComponent(filter)}`),
]
