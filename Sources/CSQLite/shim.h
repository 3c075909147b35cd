// The parts of SQLite that Swift cannot import, with the reason. GRDB imports the rest of SQLite.
#pragma once

// Declared as in <sqlite3.h>, which is not included because GRDB's module has it.
int sqlite3_config(int option, ...);

// Variadic. Turns off SQLITE_CONFIG_MEMSTATUS (9): SQLite no longer counts its allocations, for which it would take a mutex
// of the whole process twice per allocation.
static inline int backscroll_sqlite_stop_counting_memory(void) {
    return sqlite3_config(9, 0);
}
