// The part of OpenSSL that Signatures and BackscrollClient use: keys, digests, errors, and TLS for clients.
#pragma once

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

// A macro composed of other macros in parentheses, which Swift does not import.
static const int backscroll_public_key_members = EVP_PKEY_PUBLIC_KEY;
