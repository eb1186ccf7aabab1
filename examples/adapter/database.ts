import sqlite from 'node-sqlite3-wasm'

export type Database = InstanceType<typeof sqlite.Database>
export type Row = Record<string, unknown>

// Stands in for your database: your names, your types, one table for all tenants.
export function openDatabase (): Database {
  const database = new sqlite.Database()
  database.exec(`
    create table people (
      customer text not null, nr integer not null, name text not null, name_key text not null, title text,
      origin integer, owner integer, created integer not null, changed integer not null, primary key (customer, nr)
    );
    create table vacancies (
      customer text not null, nr integer not null, title text not null, title_key text not null, state text not null,
      created integer not null, changed integer not null, primary key (customer, nr)
    );`)
  return database
}
