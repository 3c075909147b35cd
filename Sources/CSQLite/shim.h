// SQLite, and the functions of it that Swift cannot import because they are variadic.
#pragma once
#include <sqlite3.h>

// SQLite no longer counts its allocations, for which it would take a mutex of the whole process twice per allocation.
static inline int backscroll_sqlite_stop_counting_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// "text" in double quotes is then the name of a column, and an error if there is none; by default it may be a string.
static inline int backscroll_sqlite_refuse_quoted_strings(sqlite3 *db) {
    int result = sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
    return result != SQLITE_OK ? result : sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

// When the connection is closed, it then neither copies the write-ahead log into the database nor deletes it.
static inline int backscroll_sqlite_keep_log_at_close(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
