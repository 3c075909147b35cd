#pragma once

/// The description of the API, an OpenAPI document: text that ends with a NUL.
extern const char *const description_openapi;

/// The page at `/docs`: text that ends with a NUL.
extern const char *const description_docs;
