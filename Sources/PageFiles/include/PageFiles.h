#pragma once

/// A file of the web page, in the program's memory.
struct page_file {
    /// The name under which the others refer to it; NULL after the last file.
    const char *name;
    /// The content: text without a NUL, which ends it, or bytes.
    const char *text;
    /// The number of bytes; 0 for a text.
    int size;
};

/// Returns the file at an index from 0 on.
struct page_file page_file(int index);
