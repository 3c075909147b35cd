// libcurl, and the parts of it that Swift cannot import: its setters and getters are variadic. Each function here fixes the
// type that libcurl requires for a group of options (curl_easy_setopt(3)).
#pragma once

#include <curl/curl.h>
#include <netinet/in.h>

static inline void backscroll_curl_number(CURL *handle, CURLoption option, long value) {
    curl_easy_setopt(handle, option, value);
}
// libcurl copies the text.
static inline void backscroll_curl_text(CURL *handle, CURLoption option, const char *value) {
    curl_easy_setopt(handle, option, value);
}
static inline void backscroll_curl_pointer(CURL *handle, CURLoption option, void *value) {
    curl_easy_setopt(handle, option, value);
}
static inline void backscroll_curl_headers(CURL *handle, struct curl_slist *headers) {
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}
// Copies the bytes.
static inline void backscroll_curl_body(CURL *handle, const void *bytes, long count) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, count);
    curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}
static inline void backscroll_curl_keep_connections(CURLM *multi, long count) {
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, count);
}
static inline void backscroll_curl_callbacks(
    CURL *handle, void *context, size_t (*take_body)(char *, size_t, size_t, void *),
    size_t (*take_header)(char *, size_t, size_t, void *),
    curl_socket_t (*open_socket)(void *, curlsocktype, struct curl_sockaddr *)) {
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
}
static inline void backscroll_curl_connections(
    CURL *handle, void *transfer, int (*before_request)(void *, char *, char *, int, int), void *sockets,
    int (*close_socket)(void *, curl_socket_t)) {
    curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, before_request);
    curl_easy_setopt(handle, CURLOPT_PREREQDATA, transfer);
    curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, sockets);
}
static inline long backscroll_curl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
// Seconds, also where the header has a date; 0 without the header.
static inline curl_off_t backscroll_curl_retry_after(CURL *handle) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
    return seconds;
}
// The address that a socket is to connect to. The struct ends in it, and Swift gives no pointer into a struct that a
// function was called with by pointer.
static inline const struct sockaddr *backscroll_curl_address(const struct curl_sockaddr *address) { return &address->addr; }
// The result of a transfer is in a union.
static inline CURLcode backscroll_curl_result(const CURLMsg *message) { return message->data.result; }
// The flags are an expression of macros.
static inline CURLcode backscroll_curl_begin(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
// The local port of a connected socket; 0 if the system does not tell it.
static inline int backscroll_local_port(curl_socket_t socket) {
    struct sockaddr_in6 address = {0};
    socklen_t size = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &size) != 0) return 0;
    // The port of an address of IPv4 is at the same place (RFC 3493, 3.3).
    return ntohs(address.sin6_port);
}
