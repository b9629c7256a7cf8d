#include "include/statement_binding.h"

// The result code of the last call of binding that failed on this thread since a statement was last stepped.
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
