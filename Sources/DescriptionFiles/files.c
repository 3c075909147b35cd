// The files of ../Description, embedded by the compiler (C23, section 6.10.4). A file that is changed is embedded again
// by the next build.
#include "DescriptionFiles.h"

// The package is compiled as an older C, in which #embed is an extension.
#pragma clang diagnostic ignored "-Wc23-extensions"

const char *const description_openapi = (const char[]){
#embed "../Description/openapi.json" suffix(, 0)
};

const char *const description_docs = (const char[]){
#embed "../Description/docs.html" suffix(, 0)
};
