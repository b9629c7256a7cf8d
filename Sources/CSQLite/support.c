#include "include/support.h"

#include <stdint.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// What binding has met on this thread since a statement was last stepped.
static _Thread_local int bind_failure;

static int noted(int code) {
    if (code != SQLITE_OK) bind_failure = code;
    return code;
}

int storage_step(sqlite3_stmt *statement) {
    int failure = bind_failure;
    bind_failure = SQLITE_OK;
    return failure == SQLITE_OK ? sqlite3_step(statement) : failure;
}

int storage_bind_text(sqlite3_stmt *statement, int index, const void *bytes, size_t size) {
    return noted(sqlite3_bind_text64(statement, index, bytes, size, SQLITE_TRANSIENT, SQLITE_UTF8));
}

int storage_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t size) {
    return noted(sqlite3_bind_blob64(statement, index, bytes, size, SQLITE_TRANSIENT));
}

int storage_bind_text_borrowed(sqlite3_stmt *statement, int index, const void *bytes, size_t size) {
    // A null pointer would bind NULL, so an empty text needs an address.
    return noted(sqlite3_bind_text64(statement, index, bytes ? bytes : "", size, SQLITE_STATIC, SQLITE_UTF8));
}

int storage_bind_blob_borrowed(sqlite3_stmt *statement, int index, const void *bytes, size_t size) {
    return noted(sqlite3_bind_blob64(statement, index, bytes ? bytes : "", size, SQLITE_STATIC));
}

void storage_configure_process(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
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

void storage_give_back_large_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void storage_use_large_pages(void *memory, size_t size) {
#ifdef MADV_HUGEPAGE
    const uintptr_t large = 2 << 20;
    uintptr_t start = ((uintptr_t)memory + large - 1) & ~(large - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(large - 1);
    // Advice only: where it isn't taken, pages are small.
    if (memory && start < end) madvise((void *)start, end - start, MADV_HUGEPAGE);
#endif
}
