// The files of ../Page, embedded by the compiler (C23, section 6.10.4). Swift's compiler would take half a minute for
// arrays of as many bytes. A file that is changed is embedded again by the next build.
#include "PageFiles.h"

// The package is compiled as an older C, in which #embed is an extension.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define TEXT (const char[])

static const unsigned char icon_180[] = {
#embed "../Page/icon-180.png"
};
static const unsigned char icon_192[] = {
#embed "../Page/icon-192.png"
};
static const unsigned char icon_512[] = {
#embed "../Page/icon-512.png"
};
static const unsigned char icon_maskable[] = {
#embed "../Page/icon-maskable.png"
};

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
    {"icon-180.png", (const char *)icon_180, sizeof icon_180},
    {"icon-192.png", (const char *)icon_192, sizeof icon_192},
    {"icon-512.png", (const char *)icon_512, sizeof icon_512},
    {"icon-maskable.png", (const char *)icon_maskable, sizeof icon_maskable},
    {"app.js", TEXT{
#embed "../Page/app.js" suffix(, 0)
    }},
    {"calendar.js", TEXT{
#embed "../Page/calendar.js" suffix(, 0)
    }},
    {"composer.js", TEXT{
#embed "../Page/composer.js" suffix(, 0)
    }},
    {"dialogs.js", TEXT{
#embed "../Page/dialogs.js" suffix(, 0)
    }},
    {"list.js", TEXT{
#embed "../Page/list.js" suffix(, 0)
    }},
    {"manifest.webmanifest", TEXT{
#embed "../Page/manifest.webmanifest" suffix(, 0)
    }},
    {"message.js", TEXT{
#embed "../Page/message.js" suffix(, 0)
    }},
    {"network.js", TEXT{
#embed "../Page/network.js" suffix(, 0)
    }},
    {"notifications.js", TEXT{
#embed "../Page/notifications.js" suffix(, 0)
    }},
    {"offline.js", TEXT{
#embed "../Page/offline.js" suffix(, 0)
    }},
    {"people.js", TEXT{
#embed "../Page/people.js" suffix(, 0)
    }},
    {"quotes.js", TEXT{
#embed "../Page/quotes.js" suffix(, 0)
    }},
    {"screen.js", TEXT{
#embed "../Page/screen.js" suffix(, 0)
    }},
    {"session.js", TEXT{
#embed "../Page/session.js" suffix(, 0)
    }},
    {"start.js", TEXT{
#embed "../Page/start.js" suffix(, 0)
    }},
    {"text-en.js", TEXT{
#embed "../Page/text-en.js" suffix(, 0)
    }},
    {"text-ko.js", TEXT{
#embed "../Page/text-ko.js" suffix(, 0)
    }},
    {"text.js", TEXT{
#embed "../Page/text.js" suffix(, 0)
    }},
    {"texts.js", TEXT{
#embed "../Page/texts.js" suffix(, 0)
    }},
    {"thumbhash.js", TEXT{
#embed "../Page/thumbhash.js" suffix(, 0)
    }},
    {"client/README.md", TEXT{
#embed "../Page/client/README.md" suffix(, 0)
    }},
    {"client/client.js", TEXT{
#embed "../Page/client/client.js" suffix(, 0)
    }},
    {"client/connection.js", TEXT{
#embed "../Page/client/connection.js" suffix(, 0)
    }},
    {"client/defaults.js", TEXT{
#embed "../Page/client/defaults.js" suffix(, 0)
    }},
    {"client/errors.js", TEXT{
#embed "../Page/client/errors.js" suffix(, 0)
    }},
    {"client/index.js", TEXT{
#embed "../Page/client/index.js" suffix(, 0)
    }},
    {"client/list-layout.js", TEXT{
#embed "../Page/client/list-layout.js" suffix(, 0)
    }},
    {"client/list.js", TEXT{
#embed "../Page/client/list.js" suffix(, 0)
    }},
    {"client/notify.js", TEXT{
#embed "../Page/client/notify.js" suffix(, 0)
    }},
    {"client/observers.js", TEXT{
#embed "../Page/client/observers.js" suffix(, 0)
    }},
    {"client/package.json", TEXT{
#embed "../Page/client/package.json" suffix(, 0)
    }},
    {"client/react.js", TEXT{
#embed "../Page/client/react.js" suffix(, 0)
    }},
    {"client/pins.js", TEXT{
#embed "../Page/client/pins.js" suffix(, 0)
    }},
    {"client/profiles.js", TEXT{
#embed "../Page/client/profiles.js" suffix(, 0)
    }},
    {"client/readership.js", TEXT{
#embed "../Page/client/readership.js" suffix(, 0)
    }},
    {"client/requests.js", TEXT{
#embed "../Page/client/requests.js" suffix(, 0)
    }},
    {"client/room.js", TEXT{
#embed "../Page/client/room.js" suffix(, 0)
    }},
    {"client/rooms.js", TEXT{
#embed "../Page/client/rooms.js" suffix(, 0)
    }},
    {"client/search.js", TEXT{
#embed "../Page/client/search.js" suffix(, 0)
    }},
    {"client/server-api.js", TEXT{
#embed "../Page/client/server-api.js" suffix(, 0)
    }},
    {"client/server.js", TEXT{
#embed "../Page/client/server.js" suffix(, 0)
    }},
    {"client/socket.js", TEXT{
#embed "../Page/client/socket.js" suffix(, 0)
    }},
    {"client/storage.js", TEXT{
#embed "../Page/client/storage.js" suffix(, 0)
    }},
    {"client/store-indexeddb.js", TEXT{
#embed "../Page/client/store-indexeddb.js" suffix(, 0)
    }},
    {"client/timeline-all.js", TEXT{
#embed "../Page/client/timeline-all.js" suffix(, 0)
    }},
    {"client/timeline-difference.js", TEXT{
#embed "../Page/client/timeline-difference.js" suffix(, 0)
    }},
    {"client/timeline-events.js", TEXT{
#embed "../Page/client/timeline-events.js" suffix(, 0)
    }},
    {"client/timeline-window.js", TEXT{
#embed "../Page/client/timeline-window.js" suffix(, 0)
    }},
    {"client/timeline.js", TEXT{
#embed "../Page/client/timeline.js" suffix(, 0)
    }},
    {"client/types.js", TEXT{
#embed "../Page/client/types.js" suffix(, 0)
    }},
    {"client/types/client.d.ts", TEXT{
#embed "../Page/client/types/client.d.ts" suffix(, 0)
    }},
    {"client/types/connection.d.ts", TEXT{
#embed "../Page/client/types/connection.d.ts" suffix(, 0)
    }},
    {"client/types/defaults.d.ts", TEXT{
#embed "../Page/client/types/defaults.d.ts" suffix(, 0)
    }},
    {"client/types/errors.d.ts", TEXT{
#embed "../Page/client/types/errors.d.ts" suffix(, 0)
    }},
    {"client/types/index.d.ts", TEXT{
#embed "../Page/client/types/index.d.ts" suffix(, 0)
    }},
    {"client/types/list-layout.d.ts", TEXT{
#embed "../Page/client/types/list-layout.d.ts" suffix(, 0)
    }},
    {"client/types/list.d.ts", TEXT{
#embed "../Page/client/types/list.d.ts" suffix(, 0)
    }},
    {"client/types/notify.d.ts", TEXT{
#embed "../Page/client/types/notify.d.ts" suffix(, 0)
    }},
    {"client/types/observers.d.ts", TEXT{
#embed "../Page/client/types/observers.d.ts" suffix(, 0)
    }},
    {"client/types/pins.d.ts", TEXT{
#embed "../Page/client/types/pins.d.ts" suffix(, 0)
    }},
    {"client/types/profiles.d.ts", TEXT{
#embed "../Page/client/types/profiles.d.ts" suffix(, 0)
    }},
    {"client/types/react.d.ts", TEXT{
#embed "../Page/client/types/react.d.ts" suffix(, 0)
    }},
    {"client/types/readership.d.ts", TEXT{
#embed "../Page/client/types/readership.d.ts" suffix(, 0)
    }},
    {"client/types/requests.d.ts", TEXT{
#embed "../Page/client/types/requests.d.ts" suffix(, 0)
    }},
    {"client/types/room.d.ts", TEXT{
#embed "../Page/client/types/room.d.ts" suffix(, 0)
    }},
    {"client/types/rooms.d.ts", TEXT{
#embed "../Page/client/types/rooms.d.ts" suffix(, 0)
    }},
    {"client/types/search.d.ts", TEXT{
#embed "../Page/client/types/search.d.ts" suffix(, 0)
    }},
    {"client/types/server-api.d.ts", TEXT{
#embed "../Page/client/types/server-api.d.ts" suffix(, 0)
    }},
    {"client/types/server.d.ts", TEXT{
#embed "../Page/client/types/server.d.ts" suffix(, 0)
    }},
    {"client/types/socket.d.ts", TEXT{
#embed "../Page/client/types/socket.d.ts" suffix(, 0)
    }},
    {"client/types/storage.d.ts", TEXT{
#embed "../Page/client/types/storage.d.ts" suffix(, 0)
    }},
    {"client/types/store-indexeddb.d.ts", TEXT{
#embed "../Page/client/types/store-indexeddb.d.ts" suffix(, 0)
    }},
    {"client/types/timeline-all.d.ts", TEXT{
#embed "../Page/client/types/timeline-all.d.ts" suffix(, 0)
    }},
    {"client/types/timeline-difference.d.ts", TEXT{
#embed "../Page/client/types/timeline-difference.d.ts" suffix(, 0)
    }},
    {"client/types/timeline-events.d.ts", TEXT{
#embed "../Page/client/types/timeline-events.d.ts" suffix(, 0)
    }},
    {"client/types/timeline-window.d.ts", TEXT{
#embed "../Page/client/types/timeline-window.d.ts" suffix(, 0)
    }},
    {"client/types/timeline.d.ts", TEXT{
#embed "../Page/client/types/timeline.d.ts" suffix(, 0)
    }},
    {"client/types/types.d.ts", TEXT{
#embed "../Page/client/types/types.d.ts" suffix(, 0)
    }},
    {"client/LICENSE", TEXT{
#embed "../../LICENSE" suffix(, 0)
    }},
    {0, 0},
};

struct page_file page_file(int index) {
    return files[index];
}
