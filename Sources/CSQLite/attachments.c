// Attachments: values of updated rows that followers of commits request besides the events.
#include "capture_internal.h"

// Enough for interactive transactions. For an import, followers read everything again.
enum { LARGEST_COUNT = 256, LARGEST_BYTES = 64 << 10 };

static int order(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

void capture_find_attached(const storage_capture *capture, captured_table *table) {
    free(table->attached);
    table->attached = 0;
    if (!capture->requested_count) return;
    for (uint32_t i = 0; i < table->column_count; i++) {
        // Every event carries the key.
        if (!table->columns[i] || table->key_indices[i]) continue;
        if (!bsearch(&table->columns[i], capture->requested, capture->requested_count, sizeof(uint32_t), order)) continue;
        if (!table->attached) table->attached = calloc(table->words, sizeof(uint64_t));
        if (!table->attached) return;
        table->attached[i / 64] |= 1ull << (i % 64);
    }
}

void storage_capture_attach(storage_capture *capture, const uint32_t *columns, size_t count) {
    free(capture->requested);
    capture->requested_count = 0;
    capture->requested = count ? malloc(count * sizeof(uint32_t)) : 0;
    if (capture->requested) {
        memcpy(capture->requested, columns, count * sizeof(uint32_t));
        capture->requested_count = count;
    }
    for (size_t i = 0; i < capture->table_count; i++) capture_find_attached(capture, &capture->tables[i]);
}

static int attach(storage_capture *capture, uint32_t column, storage_value value) {
    if (capture->attachment_count >= LARGEST_COUNT
        || !reserve((void **)&capture->attachments, &capture->attachment_capacity, capture->attachment_count + 1, sizeof(storage_attachment))) {
        return 0;
    }
    if (value.type == SQLITE_TEXT || value.type == SQLITE_BLOB) {
        size_t end = capture->attached_byte_count + value.size;
        if (end > LARGEST_BYTES || !reserve((void **)&capture->attached_bytes, &capture->attached_byte_capacity, end, 1)) return 0;
        if (value.size) memcpy(capture->attached_bytes + capture->attached_byte_count, (const void *)(uintptr_t)value.bits, value.size);
        value.bits = capture->attached_byte_count;
        capture->attached_byte_count = end;
    }
    capture->attachments[capture->attachment_count++] =
        (storage_attachment){(uint32_t)capture->event_count, column, value};
    return 1;
}

void capture_attach(storage_capture *capture, const captured_table *table) {
    for (uint32_t word = 0; word < table->words && !capture->attaches_no_more; word++) {
        uint64_t left = table->attached[word] & ~capture->mask[word];
        while (left && !capture->attaches_no_more) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            left &= left - 1;
            capture->attaches_no_more = !attach(capture, table->columns[i], capture->new_values[i]);
        }
    }
}

size_t storage_capture_attachment_count(const storage_capture *capture) { return capture->attachment_count; }
const storage_attachment *storage_capture_attachments(const storage_capture *capture) { return capture->attachments; }
const uint8_t *storage_capture_attached_bytes(const storage_capture *capture) { return capture->attached_bytes; }
