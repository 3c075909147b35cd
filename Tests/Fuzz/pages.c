// The fuzz target of the VFS of Sources/SQLiteChecksums, with SQLite's library: words of a database change on the disk. What is
// read must be what was written, or an error; what is written must have its checksums.
#include "checksums.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHAPES = 4, WORD_BYTES = 4, LARGEST_FILE = 8 * 65536 };

static const int page_sizes[SHAPES] = {512, 1024, 4096, 65536};

static struct sound {
    uint8_t bytes[LARGEST_FILE];
    size_t length;
    char rows[16384];
} sound[SHAPES];

static char path[] = "/tmp/backscroll-pages-XXXXXX";

static void check(int rule, const char *text) {
    if (rule) return;
    fprintf(stderr, "%s\n", text);
    abort();
}

static sqlite3 *open_database(void) {
    sqlite3 *database;
    check(sqlite3_open(path, &database) == SQLITE_OK, "a database opens");
    return database;
}

static int execute(sqlite3 *database, const char *statement) { return sqlite3_exec(database, statement, NULL, NULL, NULL); }

// The power does not fail here, so nothing waits for the disk.
static void sync_nothing(sqlite3 *database) {
    check(execute(database, "PRAGMA synchronous = OFF") == SQLITE_OK, "a setting");
}

// Writes the rows, in the order of the table and then of the index, and returns one of SQLite's result codes.
static int read_rows(sqlite3 *database, char *rows, size_t size) {
    static const char *const queries[] = {
        "SELECT id, body FROM message ORDER BY id", "SELECT id, body FROM message INDEXED BY message_body ORDER BY body",
    };
    size_t length = 0;
    rows[0] = '\0';
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *statement;
        int status = sqlite3_prepare_v2(database, queries[i], -1, &statement, NULL);
        if (status != SQLITE_OK) return status;
        while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
            const char *body = (const char *)sqlite3_column_text(statement, 1);
            length += (size_t)snprintf(rows + length, size - length, "%lld %s\n", sqlite3_column_int64(statement, 0), body ? body : "NULL");
            check(length < size, "no more rows than were written");
        }
        sqlite3_finalize(statement);
        if (status != SQLITE_DONE) return status;
    }
    return SQLITE_OK;
}

static size_t read_file(uint8_t *bytes) {
    int file = open(path, O_RDONLY);
    ssize_t length = read(file, bytes, LARGEST_FILE);
    close(file);
    check(length > 0 && length < LARGEST_FILE, "a file within its bound");
    return (size_t)length;
}

static void write_file(const uint8_t *bytes, size_t length) {
    // Linux would wait for the disk if the file were truncated to nothing before.
    int file = open(path, O_WRONLY);
    check(write(file, bytes, length) == (ssize_t)length && ftruncate(file, (off_t)length) == 0, "a file is written");
    close(file);
}

static void check_pages(const uint8_t *bytes, size_t length, int page_size) {
    check(length % (size_t)page_size == 0, "whole pages");
    for (size_t offset = 0; offset < length; offset += (size_t)page_size)
        check(backscroll_page_state(bytes + offset, page_size) == PAGE_RIGHT, "each page has its checksum");
}

// Makes the database of a size of pages.
static void make(struct sound *made, int page_size) {
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA page_size = %d", page_size);
    write_file(NULL, 0);
    sqlite3 *database = open_database();
    sync_nothing(database);
    int reserved = CHECKSUM_BYTES;
    check(sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved) == SQLITE_OK, "bytes are reserved");
    check(execute(database, pragma) == SQLITE_OK, "the size of pages is set");
    check(execute(database,
                  "CREATE TABLE message (id INTEGER PRIMARY KEY, body TEXT); CREATE INDEX message_body ON message (body);"
                  "WITH RECURSIVE number (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < 40)"
                  "INSERT INTO message SELECT id, printf('%0*d', id * id % 97 + 1, id) FROM number") == SQLITE_OK,
          "rows are written");
    check(read_rows(database, made->rows, sizeof made->rows) == SQLITE_OK, "rows are read");
    sqlite3_close(database);
    made->length = read_file(made->bytes);
    check_pages(made->bytes, made->length, page_size);
}

static void remove_file(void) { unlink(path); }

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    int file = mkstemp(path);
    check(file >= 0, "a temporary file");
    close(file);
    atexit(remove_file);
    check(backscroll_use_checksums() == SQLITE_OK, "the VFS is registered");
    check(backscroll_use_checksums() == SQLITE_OK, "the VFS is registered once");
    for (int i = 0; i < SHAPES; i++) make(&sound[i], page_sizes[i]);
    return 0;
}

// The first byte chooses the database and the journal. Each further 8 bytes are a word of a page and what changes in it. The
// checksum finds any change of one word, so a page changes once.
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count) {
    static struct sound changed;
    static uint8_t is_changed[LARGEST_FILE / 512];
    if (count == 0) return 0;
    const struct sound *original = &sound[input[0] % SHAPES];
    const int page_size = page_sizes[input[0] % SHAPES], is_logged = input[0] & 4;
    int changes = 0;
    changed.length = original->length;
    memcpy(changed.bytes, original->bytes, original->length);
    memset(is_changed, 0, sizeof is_changed);
    for (const uint8_t *change = input + 1; change + 2 * WORD_BYTES <= input + count; change += 2 * WORD_BYTES) {
        uint32_t place;
        memcpy(&place, change, WORD_BYTES);
        place = place % (uint32_t)(original->length / WORD_BYTES) * WORD_BYTES;
        if (is_changed[place / (uint32_t)page_size]) continue;
        is_changed[place / (uint32_t)page_size] = 1;
        for (int i = 0; i < WORD_BYTES; i++) {
            changed.bytes[place + (uint32_t)i] ^= change[WORD_BYTES + i];
            changes += change[WORD_BYTES + i] != 0;
        }
    }
    write_file(changed.bytes, changed.length);

    sqlite3 *database = open_database();
    int status = read_rows(database, changed.rows, sizeof changed.rows);
    check(status != SQLITE_OK || strcmp(changed.rows, original->rows) == 0, "what was written, or an error");
    check(status == SQLITE_OK || changes > 0, "a sound database is read");
    if (changes == 0) {
        sync_nothing(database);
        if (is_logged) check(execute(database, "PRAGMA journal_mode = WAL") == SQLITE_OK, "a log");
        check(execute(database, "UPDATE message SET body = body || id; DELETE FROM message WHERE id % 3 = 0; VACUUM") == SQLITE_OK,
              "rows are changed");
    }
    sqlite3_close(database);
    if (changes == 0) check_pages(changed.bytes, read_file(changed.bytes), page_size);
    return 0;
}
