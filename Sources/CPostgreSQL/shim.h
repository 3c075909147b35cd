// libpq, the C library of PostgreSQL, in the directory where Debian puts it.
#pragma once

#include <postgresql/libpq-fe.h>
