// The parts of libwebsockets, libuv and OpenSSL that Swift cannot import, each with the reason.
#pragma once

#include <libwebsockets.h>
#include <malloc.h>  // not among the headers of the Glibc module
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

// The fields of an anonymous union in a struct passed by value are not settable from Swift.
static inline struct lws *backscroll_adopt_socket(struct lws_vhost *vhost, int fd, int tls, void *opaque) {
    lws_adopt_desc_t info = {
        .vh = vhost,
        .type = (lws_adoption_type)(LWS_ADOPT_SOCKET | (tls ? LWS_ADOPT_ALLOW_SSL : 0)),
        .fd = {.sockfd = fd},
        .vh_prot_name = "backscroll",
        .opaque = opaque,
    };
    return lws_adopt_descriptor_vhost_via_info(&info);
}

// The version is an expression of macros, which Swift does not import. Before 4.3.4 lws_context_destroy closes the descriptor
// that wakes a context twice (warmcat/libwebsockets issue 2873), and in 4.3.5 it does not close it at all.
static inline bool backscroll_closes_wakeup_twice(void) { return (LWS_LIBRARY_VERSION_NUMBER) < 4003004; }
static inline bool backscroll_leaves_wakeup_open(void) {
    return (LWS_LIBRARY_VERSION_NUMBER) >= 4003004 && (LWS_LIBRARY_VERSION_NUMBER) < 4004000;
}

// Variadic or macro in OpenSSL's headers; Swift imports neither.
static inline void backscroll_ssl_set_min_tls12(SSL_CTX *context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
static inline void backscroll_ssl_set_host_name(SSL *connection, const char *name) {
    SSL_set_tlsext_host_name(connection, name);
}
static const uint64_t backscroll_ssl_release_buffers = SSL_MODE_RELEASE_BUFFERS;
// The intermediate certificates that were read with the certificate; null if there are none.
static inline STACK_OF(X509) *backscroll_ssl_chain(SSL_CTX *context) {
    STACK_OF(X509) *chain = NULL;
    SSL_CTX_get0_chain_certs(context, &chain);
    return chain;
}
static const int backscroll_ssl_ticket_keys_size = 80;
static inline void backscroll_ssl_set_ticket_keys(SSL_CTX *context, const unsigned char *keys) {
    SSL_CTX_set_tlsext_ticket_keys(context, (void *)keys, backscroll_ssl_ticket_keys_size);
}

// Glibc's struct tcp_info ends before tcpi_bytes_acked, and the kernel's header collides with Glibc's: the 8 bytes at 120.
static inline uint64_t backscroll_bytes_acknowledged(int fd) {
    uint64_t info[32] = {0};
    socklen_t size = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size) == 0 ? info[15] : 0;
}

// The milliseconds since the peer's last bytes arrived (`tcpi_last_data_recv`, the fourteenth number of `struct tcp_info`
// after its eight bytes of flags); -1 once the peer has closed its side, or the connection is gone. The first byte is
// the state, of which 1 is TCP_ESTABLISHED.
static inline int64_t backscroll_silence(int fd) {
    uint32_t info[64] = {0};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size) != 0) return -1;
    return *(const uint8_t *)info == 1 ? (int64_t)info[13] : -1;
}

// GNU extensions, which Swift's Glibc module leaves out.
extern int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
extern int pipe2(int ends[2], int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
static inline int backscroll_accept(int fd, struct sockaddr_storage *address) {
    socklen_t size = sizeof *address;
    return accept4(fd, (struct sockaddr *)address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
static inline int backscroll_processors(void) {
    unsigned long set[128] = {0};
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    int count = 0;
    for (long i = 0; i < bytes / (long)sizeof *set; i++) count += __builtin_popcountl(set[i]);
    return count > 0 ? count : 1;
}
static inline void backscroll_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

// A macro for another constant of the enum.
static const enum lws_write_protocol backscroll_write_raw = LWS_WRITE_RAW;
// Constants that are casts or shifts: not imported.
static const uint64_t backscroll_init_tls = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
static const uint64_t backscroll_create_tls_context = LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX;
static const uint64_t backscroll_use_libuv = LWS_SERVER_OPTION_LIBUV;
