//! Takes indexes, foreign keys and triggers away while rows are written in bulk, and makes them again:
//! keeping them up row by row takes several times as long, and triggers would count each row twice.

use sqlx::{AssertSqlSafe, Executor, PgConnection, Row};

use super::quoted;

/// Foreign keys: their removal, and their creation.
const FOREIGN_KEYS: &str =
    "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::REGCLASS, conname),
         format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::REGCLASS, conname,
                pg_get_constraintdef(oid))
     FROM pg_constraint
     WHERE contype = 'f' AND connamespace = current_schema()::REGNAMESPACE ORDER BY conname";

/// The same of the indexes that no constraint owns.
const INDEXES: &str =
    "SELECT format('DROP INDEX %s', i.indexrelid::REGCLASS), pg_get_indexdef(i.indexrelid)
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = current_schema()::REGNAMESPACE
       AND NOT EXISTS (SELECT 1 FROM pg_constraint k
                       WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
     ORDER BY c.relname";

/// For the creation of indexes and the check of foreign keys.
const MEMORY: &str = "SET LOCAL maintenance_work_mem = '256MB'";

/// What was taken away, in the order of its creation.
#[derive(Debug)]
pub(super) struct Removed {
    creations: Vec<String>,
    tables: Vec<String>,
}

/// Takes them from these tables, within a transaction.
pub(super) async fn remove(
    connection: &mut PgConnection,
    tables: &[String],
) -> Result<Removed, sqlx::Error> {
    let mut creations = Vec::new();
    // A unique index can be what a foreign key refers to.
    let mut of_keys = Vec::new();
    for (statement, made) in [(FOREIGN_KEYS, &mut of_keys), (INDEXES, &mut creations)] {
        for row in sqlx::query(statement).fetch_all(&mut *connection).await? {
            let removal: String = row.try_get(0)?;
            connection.execute(AssertSqlSafe(removal)).await?;
            made.push(row.try_get(1)?);
        }
    }
    creations.extend(of_keys);
    for table in tables {
        let statement = format!("ALTER TABLE {} DISABLE TRIGGER USER", quoted(table));
        connection.execute(AssertSqlSafe(statement)).await?;
    }
    Ok(Removed {
        creations,
        tables: tables.to_vec(),
    })
}

impl Removed {
    pub(super) async fn make_again(self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        connection.execute(MEMORY).await?;
        for creation in self.creations {
            connection.execute(AssertSqlSafe(creation)).await?;
        }
        for table in self.tables {
            let statement = format!("ALTER TABLE {} ENABLE TRIGGER USER", quoted(&table));
            connection.execute(AssertSqlSafe(statement)).await?;
        }
        Ok(())
    }
}
