// The files of ../Page, embedded by the compiler (C23, section 6.10.4). Swift's compiler would take half a minute for
// arrays of as many bytes. A file that is changed is embedded again by the next build.
#include "PageFiles.h"

// The package is compiled as an older C, in which #embed is an extension.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define TEXT (const char[])

static const struct page_file files[] = {
    {"index.html", TEXT{
#embed "../Page/index.html" suffix(, 0)
    }},
    {"style.css", TEXT{
#embed "../Page/style.css" suffix(, 0)
    }},
    {"icon.svg", TEXT{
#embed "../Page/icon.svg" suffix(, 0)
    }},
    {"api.js", TEXT{
#embed "../Page/api.js" suffix(, 0)
    }},
    {"app.js", TEXT{
#embed "../Page/app.js" suffix(, 0)
    }},
    {"calendar.js", TEXT{
#embed "../Page/calendar.js" suffix(, 0)
    }},
    {"composer.js", TEXT{
#embed "../Page/composer.js" suffix(, 0)
    }},
    {"inbox.js", TEXT{
#embed "../Page/inbox.js" suffix(, 0)
    }},
    {"list.js", TEXT{
#embed "../Page/list.js" suffix(, 0)
    }},
    {"message.js", TEXT{
#embed "../Page/message.js" suffix(, 0)
    }},
    {"offline.js", TEXT{
#embed "../Page/offline.js" suffix(, 0)
    }},
    {"outbox.js", TEXT{
#embed "../Page/outbox.js" suffix(, 0)
    }},
    {"question.js", TEXT{
#embed "../Page/question.js" suffix(, 0)
    }},
    {"quotes.js", TEXT{
#embed "../Page/quotes.js" suffix(, 0)
    }},
    {"renew.js", TEXT{
#embed "../Page/renew.js" suffix(, 0)
    }},
    {"room.js", TEXT{
#embed "../Page/room.js" suffix(, 0)
    }},
    {"screen.js", TEXT{
#embed "../Page/screen.js" suffix(, 0)
    }},
    {"socket.js", TEXT{
#embed "../Page/socket.js" suffix(, 0)
    }},
    {"store.js", TEXT{
#embed "../Page/store.js" suffix(, 0)
    }},
    {"text.js", TEXT{
#embed "../Page/text.js" suffix(, 0)
    }},
    {"thumbhash.js", TEXT{
#embed "../Page/thumbhash.js" suffix(, 0)
    }},
    {"timeline.js", TEXT{
#embed "../Page/timeline.js" suffix(, 0)
    }},
    {"timeline-difference.js", TEXT{
#embed "../Page/timeline-difference.js" suffix(, 0)
    }},
    {"timeline-events.js", TEXT{
#embed "../Page/timeline-events.js" suffix(, 0)
    }},
    {"timeline-window.js", TEXT{
#embed "../Page/timeline-window.js" suffix(, 0)
    }},
    {0, 0},
};

struct page_file page_file(int index) {
    return files[index];
}
