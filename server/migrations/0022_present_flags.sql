-- Up Migration

-- Most products have no is_rsd_product, and the index had an entry of 41 bytes for each of them. This one has the others. The products
-- without a value are found by the primary key, and counted as those that are not in the index.
-- On a table with millions of products, build this index before the upgrade with `create index concurrently`.
create index if not exists product_is_rsd_product_present on product (account_id, is_rsd_product, id) where is_rsd_product is not null;
drop index if exists product_is_rsd_product;
