#include "fault_internal.h"

#include <sqlite3.h>

static sqlite3_mem_methods real_memory;

static void *failing_malloc(int size) {
    return fault_strikes(FAULT_ALLOCATION) ? NULL : real_memory.xMalloc(size);
}

static void *failing_realloc(void *memory, int size) {
    return fault_strikes(FAULT_ALLOCATION) ? NULL : real_memory.xRealloc(memory, size);
}

int fault_install_allocator(void) {
    int result = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
    if (result != SQLITE_OK) return result;
    sqlite3_mem_methods memory = real_memory;
    memory.xMalloc = failing_malloc;
    memory.xRealloc = failing_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
}
