#include "include/connection_settings.h"

void storage_configure_process(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    storage_keep_savepoints_in_memory();
}

int storage_disable_checkpoint_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

int storage_set_triggers_enabled(sqlite3 *database, int enabled) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled, (int *)0);
}

int storage_set_foreign_keys_enabled(sqlite3 *database, int enabled) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FKEY, enabled, (int *)0);
}

int storage_set_trusted_schema(sqlite3 *database, int trusted) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, trusted, (int *)0);
}

int storage_set_defensive(sqlite3 *database, int defensive) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, defensive, (int *)0);
}

int storage_set_double_quoted_texts(sqlite3 *database, int allowed) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, allowed, (int *)0);
    return code != SQLITE_OK ? code : sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, allowed, (int *)0);
}
