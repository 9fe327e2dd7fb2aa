-- Creates the roles and the database. psql reads the passwords from the secrets, so that no command line contains them.
\set owner_password `cat /run/secrets/owner-password`
\set login_password `cat /run/secrets/login-password`
create role quartermaster_owner login password :'owner_password';
create role quartermaster login password :'login_password';
create role quartermaster_server nologin;
create role quartermaster_writer nologin;
grant quartermaster_server, quartermaster_writer to quartermaster_owner, quartermaster;
create database quartermaster owner quartermaster_owner
  template template0 encoding 'UTF8' locale_provider libc locale 'C.UTF-8';
