// The parts of zlib that Swift cannot import, each with the reason.
#pragma once

// Without it zlib's input pointers are mutable, although it only reads through them.
#define ZLIB_CONST
#include <zlib.h>

// Macros that add the header's version and the struct's size. A negative number of bits means deflate without a
// header and a checksum (RFC 1951).
static inline int backscroll_deflate_init(z_stream *stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, -window_bits, memory_level, Z_DEFAULT_STRATEGY);
}
// With 16 added to the number of bits, a gzip header and its checksum (RFC 1952).
static inline int backscroll_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
static inline int backscroll_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, -window_bits);
}
