/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Draft = {
    client_message_id?: string | null;
    text?: string | null;
    attachments?: AttachmentDraft[] | null;
    reply_to?: number | null;
    mentions?: string[] | null;
    mentions_room?: boolean | null;
    silent?: boolean | null;
    data?: Record<string, unknown> | null;
    expect_head?: number | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Edit = {
    text?: string | null;
    attachments?: AttachmentDraft[] | null;
    mentions?: string[] | null;
    mentions_room?: boolean | null;
    data?: Record<string, unknown> | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type AttachmentDraft = {
    type: AttachmentType;
    url: string;
    width?: number | null;
    height?: number | null;
    mime?: string | null;
    size?: number | null;
    title?: string | null;
    description?: string | null;
    thumbhash?: string | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type AttachmentType = "image" | "video" | "audio" | "file" | "link";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Message = {
    room: string;
    seq: number;
    rev: number;
    sender: string;
    client_message_id?: string;
    text?: string;
    attachments?: Attachment[];
    reply_to?: number;
    mentions?: string[];
    mentions_room?: boolean;
    silent?: boolean;
    data?: Record<string, unknown>;
    reactions?: Reaction[];
    pinned?: Pin;
    created_at: string;
    edited_at?: string;
    deleted?: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Reaction = {
    key: string;
    count: number;
    users: string[];
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Pin = {
    by: string;
    at: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Pins = {
    messages: Message[];
    has_more: boolean;
    cursor?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReactingUsers = {
    users: string[];
    has_more: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Attachment = {
    type: AttachmentType;
    url: string;
    width?: number;
    height?: number;
    mime?: string;
    size?: number;
    title?: string;
    description?: string;
    thumbhash?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Page = {
    messages: Message[];
    has_before: boolean;
    has_after: boolean;
    head: number;
    rev: number;
    epoch: string;
    read?: number;
    unread?: number;
    first_unread?: number;
    unread_mentions?: number;
    first_unread_mention?: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Changes = {
    messages: Message[];
    rev: number;
    has_more: boolean;
    epoch: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Room = {
    room: string;
    head: number;
    rev: number;
    epoch: string;
    read?: number;
    unread?: number;
    first_unread?: number;
    unread_mentions?: number;
    first_unread_mention?: number;
    visibility?: Visibility;
    title?: string;
    posting?: Posting;
    pinning?: Pinning;
    slow_seconds?: number;
    keep_days?: number;
    searchable?: false;
    avatar?: string;
    data?: Record<string, unknown>;
    notify?: Notify;
    role?: Role;
    direct?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Rooms = {
    rooms: InboxRoom[];
    has_more: boolean;
    cursor?: string;
    epoch: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type NotifySettings = {
    level: NotifyLevel;
    until?: string | null;
    room_mentions?: boolean | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type NotifyLevel = "all" | "mentions" | "none";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Notify = {
    level: NotifyLevel;
    until?: string;
    room_mentions: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type SearchedPart = "image" | "file" | "link";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type SearchHits = {
    hits: ({
        message: Message;
        highlights: number[][];
    })[];
    has_more: boolean;
    cursor?: string;
    indexed_to?: string;
    epoch: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type MentioningMessages = {
    messages: Message[];
    has_more: boolean;
    cursor?: string;
    epoch: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type RoomSettings = {
    visibility?: Visibility | null;
    title?: string | null;
    posting?: Posting | null;
    pinning?: Pinning | null;
    slow_seconds?: number | null;
    keep_days?: number | null;
    searchable?: boolean | null;
    avatar?: string | null;
    data?: Record<string, unknown> | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Pinning = "owners" | "members";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Posting = "members" | "owners";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Visibility = "open" | "private";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Role = "member" | "owner";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type InboxRoom = Room & {
    last_message?: Message;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReadMark = {
    seq: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Read = {
    user: string;
    seq: number;
    at?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Reads = {
    reads: Read[];
    has_more: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Member = {
    user: string;
    role: Role;
    profile?: Profile;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Profile = {
    user: string;
    name?: string;
    avatar?: string;
    data?: Record<string, unknown>;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Profiles = {
    profiles: Profile[];
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ProfileSettings = {
    name?: string | null;
    avatar?: string | null;
    data?: Record<string, unknown> | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type MemberRole = {
    role?: Role | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Members = {
    members: Member[];
    has_more: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type BanScope = "send" | "all";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ErasureState = "erasing" | "erased";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Ban = {
    user: string;
    scope: BanScope;
    until?: string;
    reason?: string;
    by: string;
    created_at: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type BanSettings = {
    scope?: BanScope;
    until?: string | null;
    reason?: string | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Bans = {
    bans: Ban[];
    has_more: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReportReason = "spam" | "abuse" | "illegal" | "other";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReportState = "open" | "closed";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReportAction = "none" | "deleted" | "banned";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReportDraft = {
    reason: ReportReason;
    note?: string | null;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookSettings = {
    url?: string;
    rooms?: string[];
    events?: WebhookEvent[];
    enabled?: boolean;
    from?: WebhookStart;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookStart = "now" | "start";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookState = "ok" | "retrying" | "paused";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookPause = "gone" | "failing";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookEvent = "message" | "room" | "member" | "report" | "push";
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Webhook = {
    id: string;
    url: string;
    rooms: string[];
    events: WebhookEvent[];
    enabled: boolean;
    created_at: string;
    secret?: string;
    state: WebhookState;
    paused_because?: WebhookPause;
    rooms_behind: number;
    behind_since?: string;
    failing_since?: string;
    last_error?: WebhookError;
    next_attempt?: string;
    stopped_rooms: StoppedRoom[];
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookError = {
    at: string;
    status?: number;
    detail: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type StoppedRoom = {
    room?: string;
    rev?: number;
    event?: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Webhooks = {
    webhooks: Webhook[];
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookSkip = {
    room?: string;
    rev?: number;
    event?: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookReplay = {
    room?: string;
    since?: number;
    since_time?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookRotation = {
    keep_hours?: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type WebhookTest = {
    webhook_id: string;
    received: boolean;
    status?: number;
    detail?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReportDecision = {
    state: "closed";
    action: ReportAction;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReportEntry = {
    user: string;
    reason: ReportReason;
    note?: string;
    created_at: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Report = {
    room: string;
    seq: number;
    state: ReportState;
    reported_at: string;
    action?: ReportAction;
    closed_at?: string;
    closed_by?: string;
    seconds_to_action?: number;
    reporters: number;
    reasons: Record<string, unknown>;
    reports: ReportEntry[];
    message: Message;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Reports = {
    reports: Report[];
    has_more: boolean;
    cursor?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Block = {
    user: string;
    created_at: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Blocks = {
    blocks: Block[];
    has_more: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type AdminRoom = {
    room: string;
    title?: string;
    visibility: Visibility;
    posting?: Posting;
    pinning?: Pinning;
    slow_seconds?: number;
    keep_days?: number;
    searchable?: false;
    avatar?: string;
    data?: Record<string, unknown>;
    messages: number;
    members: number;
    bytes: number;
    last_activity?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type AdminRooms = {
    rooms: AdminRoom[];
    has_more: boolean;
    cursor?: string;
    epoch: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type AdminUser = {
    user: string;
    rooms: ({
        room: string;
        role: Role;
    })[];
    has_more: boolean;
    last_activity?: string;
    sockets: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Erasure = {
    user: string;
    state: ErasureState;
    messages: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Presence = {
    room: string;
    online: number;
    users?: string[];
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type SubscribedFrame = {
    type: "subscribed";
    room: string;
    head: number;
    rev: number;
    epoch: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type MessageFrame = {
    type: "message";
    message: Message;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type LiveFrame = {
    type: "live";
    room: string;
    rev: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type TypingFrame = {
    type: "typing";
    room: string;
    user: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ReadFrame = {
    type: "read";
    room: string;
    user: string;
    seq: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type BlockFrame = {
    type: "block";
    user: string;
    blocked: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type NotifyFrame = {
    type: "notify";
    room: string;
    level: NotifyLevel;
    until?: string;
    room_mentions: boolean;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type PresenceFrame = {
    type: "presence";
    room: string;
    online: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ErrorFrame = {
    type: "error";
    code: string;
    message: string;
    room?: string;
    retry_after?: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type SubscribeFrame = {
    type: "subscribe";
    room?: string;
    rooms?: "mine";
    since?: number | string;
    epoch?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type UnsubscribeFrame = {
    type: "unsubscribe";
    room?: string;
    rooms?: "mine";
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type SendTypingFrame = {
    type: "typing";
    room?: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type TokenFrame = {
    type: "token";
    token: string;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ServerFrame = SubscribedFrame | MessageFrame | LiveFrame | TypingFrame | ReadFrame | BlockFrame | NotifyFrame | PresenceFrame | ErrorFrame;
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type ClientFrame = SubscribeFrame | UnsubscribeFrame | SendTypingFrame | TokenFrame;
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Problem = {
    type: string;
    title: string;
    status: number;
    code: string;
    detail: string;
    field?: string;
    limit?: number;
    head?: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Status = {
    status: string;
    rooms?: number;
};
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type OpenAPIDocument = Record<string, unknown>;
/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 */
export type Operations = {
    "GET /v1/rooms/{room}/messages": {
        request: {
            path: {
                room: string;
            };
            query?: {
                before?: string | number;
                after?: string | number;
                around?: string | number;
                limit?: number;
            };
        };
        answer: Page;
    };
    "POST /v1/rooms/{room}/messages": {
        request: {
            path: {
                room: string;
            };
            body: Draft;
        };
        answer: Message;
    };
    "GET /v1/rooms/{room}/messages/{seq}": {
        request: {
            path: {
                room: string;
                seq: number;
            };
            headers?: {
                "If-None-Match"?: string;
            };
        };
        answer: Message;
    };
    "PATCH /v1/rooms/{room}/messages/{seq}": {
        request: {
            path: {
                room: string;
                seq: number;
            };
            headers?: {
                "If-Match"?: string;
            };
            body: Edit;
        };
        answer: Message;
    };
    "DELETE /v1/rooms/{room}/messages/{seq}": {
        request: {
            path: {
                room: string;
                seq: number;
            };
            headers?: {
                "If-Match"?: string;
            };
        };
        answer: Message;
    };
    "GET /v1/rooms/{room}/messages/by-client-id/{client_message_id}": {
        request: {
            path: {
                room: string;
                client_message_id: string;
            };
            headers?: {
                "If-None-Match"?: string;
            };
        };
        answer: Message;
    };
    "GET /v1/rooms/{room}/messages/{seq}/reactions/{key}": {
        request: {
            path: {
                room: string;
                seq: number;
                key: string;
            };
            query?: {
                after?: string | number;
                limit?: number;
            };
        };
        answer: ReactingUsers;
    };
    "PUT /v1/rooms/{room}/messages/{seq}/reactions/{key}": {
        request: {
            path: {
                room: string;
                seq: number;
                key: string;
            };
            headers?: {
                "If-Match"?: string;
            };
        };
        answer: Message;
    };
    "DELETE /v1/rooms/{room}/messages/{seq}/reactions/{key}": {
        request: {
            path: {
                room: string;
                seq: number;
                key: string;
            };
            headers?: {
                "If-Match"?: string;
            };
        };
        answer: Message;
    };
    "POST /v1/rooms/{room}/messages/{seq}/reports": {
        request: {
            path: {
                room: string;
                seq: number;
            };
            body: ReportDraft;
        };
        answer: ReportEntry;
    };
    "PUT /v1/rooms/{room}/messages/{seq}/pin": {
        request: {
            path: {
                room: string;
                seq: number;
            };
            headers?: {
                "If-Match"?: string;
            };
        };
        answer: Message;
    };
    "DELETE /v1/rooms/{room}/messages/{seq}/pin": {
        request: {
            path: {
                room: string;
                seq: number;
            };
            headers?: {
                "If-Match"?: string;
            };
        };
        answer: Message;
    };
    "GET /v1/rooms/{room}/pins": {
        request: {
            path: {
                room: string;
            };
            query?: {
                cursor?: string | number;
                limit?: number;
            };
        };
        answer: Pins;
    };
    "GET /v1/rooms/{room}/changes": {
        request: {
            path: {
                room: string;
            };
            query?: {
                since?: string | number;
                epoch?: string | number;
                limit?: number;
            };
        };
        answer: Changes;
    };
    "GET /v1/rooms/{room}/search": {
        request: {
            path: {
                room: string;
            };
            query: {
                q: string | number;
                sender?: string | number;
                before?: string | number;
                after?: string | number;
                has?: SearchedPart;
                cursor?: string | number;
                limit?: number;
            };
        };
        answer: SearchHits;
    };
    "GET /v1/search": {
        request: {
            query: {
                q: string | number;
                sender?: string | number;
                before?: string | number;
                after?: string | number;
                has?: SearchedPart;
                cursor?: string | number;
                limit?: number;
            };
        };
        answer: SearchHits;
    };
    "GET /v1/rooms": {
        request: {
            query?: {
                cursor?: string | number;
                limit?: number;
            };
        };
        answer: Rooms;
    };
    "GET /v1/mentions": {
        request: {
            query?: {
                cursor?: string | number;
                limit?: number;
            };
        };
        answer: MentioningMessages;
    };
    "GET /v1/rooms/{room}": {
        request: {
            path: {
                room: string;
            };
        };
        answer: Room;
    };
    "PUT /v1/rooms/{room}": {
        request: {
            path: {
                room: string;
            };
            body: RoomSettings;
        };
        answer: Room;
    };
    "DELETE /v1/rooms/{room}": {
        request: {
            path: {
                room: string;
            };
        };
        answer: null;
    };
    "PUT /v1/rooms/{room}/read": {
        request: {
            path: {
                room: string;
            };
            body: ReadMark;
        };
        answer: Room;
    };
    "GET /v1/rooms/{room}/reads": {
        request: {
            path: {
                room: string;
            };
            query?: {
                after?: string | number;
                from?: number;
                limit?: number;
            };
        };
        answer: Reads;
    };
    "PUT /v1/rooms/{room}/notify": {
        request: {
            path: {
                room: string;
            };
            body: NotifySettings;
        };
        answer: Notify;
    };
    "GET /v1/rooms/{room}/presence": {
        request: {
            path: {
                room: string;
            };
        };
        answer: Presence;
    };
    "PUT /v1/direct/{user}": {
        request: {
            path: {
                user: string;
            };
        };
        answer: Room;
    };
    "GET /v1/blocks": {
        request: {
            query?: {
                after?: string | number;
                limit?: number;
            };
        };
        answer: Blocks;
    };
    "PUT /v1/blocks/{user}": {
        request: {
            path: {
                user: string;
            };
        };
        answer: Block;
    };
    "DELETE /v1/blocks/{user}": {
        request: {
            path: {
                user: string;
            };
        };
        answer: null;
    };
    "GET /v1/rooms/{room}/members": {
        request: {
            path: {
                room: string;
            };
            query?: {
                after?: string | number;
                limit?: number;
                profiles?: boolean;
            };
        };
        answer: Members;
    };
    "GET /v1/rooms/{room}/members/{user}": {
        request: {
            path: {
                room: string;
                user: string;
            };
        };
        answer: Member;
    };
    "PUT /v1/rooms/{room}/members/{user}": {
        request: {
            path: {
                room: string;
                user: string;
            };
            body?: MemberRole;
        };
        answer: Member;
    };
    "DELETE /v1/rooms/{room}/members/{user}": {
        request: {
            path: {
                room: string;
                user: string;
            };
        };
        answer: null;
    };
    "GET /v1/rooms/{room}/bans": {
        request: {
            path: {
                room: string;
            };
            query?: {
                after?: string | number;
                limit?: number;
            };
        };
        answer: Bans;
    };
    "GET /v1/rooms/{room}/bans/{user}": {
        request: {
            path: {
                room: string;
                user: string;
            };
        };
        answer: Ban;
    };
    "PUT /v1/rooms/{room}/bans/{user}": {
        request: {
            path: {
                room: string;
                user: string;
            };
            body?: BanSettings;
        };
        answer: Ban;
    };
    "DELETE /v1/rooms/{room}/bans/{user}": {
        request: {
            path: {
                room: string;
                user: string;
            };
        };
        answer: null;
    };
    "GET /v1/profiles": {
        request: {
            query: {
                users: string | number;
            };
            headers?: {
                "If-None-Match"?: string;
            };
        };
        answer: Profiles;
    };
    "PUT /v1/profiles/{user}": {
        request: {
            path: {
                user: string;
            };
            body: ProfileSettings;
        };
        answer: Profile;
    };
    "GET /v1/rooms/{room}/live": {
        request: {
            path: {
                room: string;
            };
            query?: {
                since?: string | number;
                epoch?: string | number;
            };
            headers?: {
                "Last-Event-ID"?: string;
            };
        };
        answer: string | null;
    };
    "GET /v1/live": {
        request: {};
        answer: null;
    };
    "GET /v1/admin/rooms": {
        request: {
            query?: {
                cursor?: string | number;
                limit?: number;
            };
        };
        answer: AdminRooms;
    };
    "GET /v1/admin/users/{user}": {
        request: {
            path: {
                user: string;
            };
            query?: {
                after?: string | number;
                limit?: number;
            };
        };
        answer: AdminUser;
    };
    "DELETE /v1/admin/users/{user}/sockets": {
        request: {
            path: {
                user: string;
            };
        };
        answer: null;
    };
    "GET /v1/admin/reports": {
        request: {
            query?: {
                state?: ReportState;
                cursor?: string | number;
                limit?: number;
            };
        };
        answer: Reports;
    };
    "PUT /v1/admin/reports/{room}/{seq}": {
        request: {
            path: {
                room: string;
                seq: number;
            };
            body: ReportDecision;
        };
        answer: Report;
    };
    "GET /v1/admin/webhooks": {
        request: {};
        answer: Webhooks;
    };
    "GET /v1/admin/webhooks/{webhook}": {
        request: {
            path: {
                webhook: string;
            };
        };
        answer: Webhook;
    };
    "PUT /v1/admin/webhooks/{webhook}": {
        request: {
            path: {
                webhook: string;
            };
            body: WebhookSettings;
        };
        answer: Webhook;
    };
    "DELETE /v1/admin/webhooks/{webhook}": {
        request: {
            path: {
                webhook: string;
            };
        };
        answer: null;
    };
    "POST /v1/admin/webhooks/{webhook}/skip": {
        request: {
            path: {
                webhook: string;
            };
            body: WebhookSkip;
        };
        answer: Webhook;
    };
    "POST /v1/admin/webhooks/{webhook}/replay": {
        request: {
            path: {
                webhook: string;
            };
            body: WebhookReplay;
        };
        answer: Webhook;
    };
    "POST /v1/admin/webhooks/{webhook}/rotate": {
        request: {
            path: {
                webhook: string;
            };
            body?: WebhookRotation;
        };
        answer: Webhook;
    };
    "POST /v1/admin/webhooks/{webhook}/test": {
        request: {
            path: {
                webhook: string;
            };
        };
        answer: WebhookTest;
    };
    "GET /v1/users/{user}": {
        request: {
            path: {
                user: string;
            };
        };
        answer: Erasure;
    };
    "DELETE /v1/users/{user}": {
        request: {
            path: {
                user: string;
            };
        };
        answer: Erasure;
    };
    "GET /v1/admin/bans": {
        request: {
            query?: {
                after?: string | number;
                limit?: number;
            };
        };
        answer: Bans;
    };
    "GET /v1/admin/bans/{user}": {
        request: {
            path: {
                user: string;
            };
        };
        answer: Ban;
    };
    "PUT /v1/admin/bans/{user}": {
        request: {
            path: {
                user: string;
            };
            body?: BanSettings;
        };
        answer: Ban;
    };
    "DELETE /v1/admin/bans/{user}": {
        request: {
            path: {
                user: string;
            };
        };
        answer: null;
    };
    "GET /healthz": {
        request: {};
        answer: Status;
    };
    "GET /readyz": {
        request: {};
        answer: Status;
    };
    "GET /metrics": {
        request: {};
        answer: string;
    };
    "GET /openapi.json": {
        request: {
            headers?: {
                "If-None-Match"?: string;
            };
        };
        answer: OpenAPIDocument;
    };
    "GET /docs": {
        request: {
            headers?: {
                "If-None-Match"?: string;
            };
        };
        answer: string;
    };
    "GET /": {
        request: {
            headers?: {
                "If-None-Match"?: string;
            };
        };
        answer: string;
    };
};
