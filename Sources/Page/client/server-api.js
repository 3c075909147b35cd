/**
 * The operations of the API with their requests and answers. `scripts/client-types` writes this file from the API's description.
 *
 * @typedef {{client_message_id?: string | null, text?: string | null, attachments?: AttachmentDraft[] | null, reply_to?: number | null, mentions?: string[] | null, mentions_room?: boolean | null, silent?: boolean | null, data?: Record<string, unknown> | null, expect_head?: number | null}} Draft
 * @typedef {{text?: string | null, attachments?: AttachmentDraft[] | null, mentions?: string[] | null, mentions_room?: boolean | null, data?: Record<string, unknown> | null}} Edit
 * @typedef {{type: AttachmentType, url: string, width?: number | null, height?: number | null, mime?: string | null, size?: number | null, title?: string | null, description?: string | null, thumbhash?: string | null}} AttachmentDraft
 * @typedef {"image" | "video" | "audio" | "file" | "link"} AttachmentType
 * @typedef {{room: string, seq: number, rev: number, sender: string, client_message_id?: string, text?: string, attachments?: Attachment[], reply_to?: number, mentions?: string[], mentions_room?: boolean, silent?: boolean, data?: Record<string, unknown>, reactions?: Reaction[], pinned?: Pin, created_at: string, edited_at?: string, deleted?: boolean}} Message
 * @typedef {{key: string, count: number, users: string[]}} Reaction
 * @typedef {{by: string, at: string}} Pin
 * @typedef {{messages: Message[], has_more: boolean, cursor?: string}} Pins
 * @typedef {{users: string[], has_more: boolean}} ReactingUsers
 * @typedef {{type: AttachmentType, url: string, width?: number, height?: number, mime?: string, size?: number, title?: string, description?: string, thumbhash?: string}} Attachment
 * @typedef {{messages: Message[], has_before: boolean, has_after: boolean, head: number, rev: number, epoch: string, read?: number, unread?: number, first_unread?: number, unread_mentions?: number, first_unread_mention?: number}} Page
 * @typedef {{messages: Message[], rev: number, has_more: boolean, epoch: string}} Changes
 * @typedef {{room: string, head: number, rev: number, epoch: string, read?: number, unread?: number, first_unread?: number, unread_mentions?: number, first_unread_mention?: number, visibility?: Visibility, title?: string, posting?: Posting, pinning?: Pinning, slow_seconds?: number, keep_days?: number, searchable?: false, avatar?: string, data?: Record<string, unknown>, notify?: Notify, role?: Role, direct?: string}} Room
 * @typedef {{rooms: InboxRoom[], has_more: boolean, cursor?: string, epoch: string}} Rooms
 * @typedef {{level: NotifyLevel, until?: string | null, room_mentions?: boolean | null}} NotifySettings
 * @typedef {"all" | "mentions" | "none"} NotifyLevel
 * @typedef {{level: NotifyLevel, until?: string, room_mentions: boolean}} Notify
 * @typedef {"image" | "file" | "link"} SearchedPart
 * @typedef {{hits: ({message: Message, highlights: number[][]})[], has_more: boolean, cursor?: string, indexed_to?: string, epoch: string}} SearchHits
 * @typedef {{messages: Message[], has_more: boolean, cursor?: string, epoch: string}} MentioningMessages
 * @typedef {{visibility?: Visibility | null, title?: string | null, posting?: Posting | null, pinning?: Pinning | null, slow_seconds?: number | null, keep_days?: number | null, searchable?: boolean | null, avatar?: string | null, data?: Record<string, unknown> | null}} RoomSettings
 * @typedef {"owners" | "members"} Pinning
 * @typedef {"members" | "owners"} Posting
 * @typedef {"open" | "private"} Visibility
 * @typedef {"member" | "owner"} Role
 * @typedef {Room & {last_message?: Message}} InboxRoom
 * @typedef {{seq: number}} ReadMark
 * @typedef {{user: string, seq: number, at?: string}} Read
 * @typedef {{reads: Read[], has_more: boolean}} Reads
 * @typedef {{user: string, role: Role, profile?: Profile}} Member
 * @typedef {{user: string, name?: string, avatar?: string, data?: Record<string, unknown>}} Profile
 * @typedef {{profiles: Profile[]}} Profiles
 * @typedef {{name?: string | null, avatar?: string | null, data?: Record<string, unknown> | null}} ProfileSettings
 * @typedef {{role?: Role | null}} MemberRole
 * @typedef {{members: Member[], has_more: boolean}} Members
 * @typedef {"send" | "all"} BanScope
 * @typedef {"erasing" | "erased"} ErasureState
 * @typedef {{user: string, scope: BanScope, until?: string, reason?: string, by: string, created_at: string}} Ban
 * @typedef {{scope?: BanScope, until?: string | null, reason?: string | null}} BanSettings
 * @typedef {{bans: Ban[], has_more: boolean}} Bans
 * @typedef {"spam" | "abuse" | "illegal" | "other"} ReportReason
 * @typedef {"open" | "closed"} ReportState
 * @typedef {"none" | "deleted" | "banned"} ReportAction
 * @typedef {{reason: ReportReason, note?: string | null}} ReportDraft
 * @typedef {{url?: string, rooms?: string[], events?: WebhookEvent[], enabled?: boolean, from?: WebhookStart}} WebhookSettings
 * @typedef {"now" | "start"} WebhookStart
 * @typedef {"ok" | "retrying" | "paused"} WebhookState
 * @typedef {"gone" | "failing"} WebhookPause
 * @typedef {"message" | "room" | "member" | "report" | "push"} WebhookEvent
 * @typedef {{id: string, url: string, rooms: string[], events: WebhookEvent[], enabled: boolean, created_at: string, secret?: string, state: WebhookState, paused_because?: WebhookPause, rooms_behind: number, behind_since?: string, failing_since?: string, last_error?: WebhookError, next_attempt?: string, stopped_rooms: StoppedRoom[]}} Webhook
 * @typedef {{at: string, status?: number, detail: string}} WebhookError
 * @typedef {{room?: string, rev?: number, event?: number}} StoppedRoom
 * @typedef {{webhooks: Webhook[]}} Webhooks
 * @typedef {{room?: string, rev?: number, event?: number}} WebhookSkip
 * @typedef {{room?: string, since?: number, since_time?: string}} WebhookReplay
 * @typedef {{keep_hours?: number}} WebhookRotation
 * @typedef {{webhook_id: string, received: boolean, status?: number, detail?: string}} WebhookTest
 * @typedef {{state: "closed", action: ReportAction}} ReportDecision
 * @typedef {{user: string, reason: ReportReason, note?: string, created_at: string}} ReportEntry
 * @typedef {{room: string, seq: number, state: ReportState, reported_at: string, action?: ReportAction, closed_at?: string, closed_by?: string, seconds_to_action?: number, reporters: number, reasons: Record<string, unknown>, reports: ReportEntry[], message: Message}} Report
 * @typedef {{reports: Report[], has_more: boolean, cursor?: string}} Reports
 * @typedef {{user: string, created_at: string}} Block
 * @typedef {{blocks: Block[], has_more: boolean}} Blocks
 * @typedef {{room: string, title?: string, visibility: Visibility, posting?: Posting, pinning?: Pinning, slow_seconds?: number, keep_days?: number, searchable?: false, avatar?: string, data?: Record<string, unknown>, messages: number, members: number, bytes: number, last_activity?: string}} AdminRoom
 * @typedef {{rooms: AdminRoom[], has_more: boolean, cursor?: string, epoch: string}} AdminRooms
 * @typedef {{user: string, rooms: ({room: string, role: Role})[], has_more: boolean, last_activity?: string, sockets: number}} AdminUser
 * @typedef {{user: string, state: ErasureState, messages: number}} Erasure
 * @typedef {{room: string, online: number, users?: string[]}} Presence
 * @typedef {{type: "subscribed", room: string, head: number, rev: number, epoch: string}} SubscribedFrame
 * @typedef {{type: "message", message: Message}} MessageFrame
 * @typedef {{type: "live", room: string, rev: number}} LiveFrame
 * @typedef {{type: "typing", room: string, user: string}} TypingFrame
 * @typedef {{type: "read", room: string, user: string, seq: number}} ReadFrame
 * @typedef {{type: "block", user: string, blocked: boolean}} BlockFrame
 * @typedef {{type: "notify", room: string, level: NotifyLevel, until?: string, room_mentions: boolean}} NotifyFrame
 * @typedef {{type: "presence", room: string, online: number}} PresenceFrame
 * @typedef {{type: "error", code: string, message: string, room?: string, retry_after?: number}} ErrorFrame
 * @typedef {{type: "subscribe", room?: string, rooms?: "mine", since?: number | string, epoch?: string}} SubscribeFrame
 * @typedef {{type: "unsubscribe", room?: string, rooms?: "mine"}} UnsubscribeFrame
 * @typedef {{type: "typing", room?: string}} SendTypingFrame
 * @typedef {{type: "token", token: string}} TokenFrame
 * @typedef {SubscribedFrame | MessageFrame | LiveFrame | TypingFrame | ReadFrame | BlockFrame | NotifyFrame | PresenceFrame | ErrorFrame} ServerFrame
 * @typedef {SubscribeFrame | UnsubscribeFrame | SendTypingFrame | TokenFrame} ClientFrame
 * @typedef {{type: string, title: string, status: number, code: string, detail: string, field?: string, limit?: number, head?: number}} Problem
 * @typedef {{status: string, rooms?: number}} Status
 * @typedef {Record<string, unknown>} OpenAPIDocument
 *
 * @typedef {{
 *   "GET /v1/rooms/{room}/messages": {request: {path: {room: string}, query?: {before?: string | number, after?: string | number, around?: string | number, limit?: number}}, answer: Page},
 *   "POST /v1/rooms/{room}/messages": {request: {path: {room: string}, body: Draft}, answer: Message},
 *   "GET /v1/rooms/{room}/messages/{seq}": {request: {path: {room: string, seq: number}, headers?: {"If-None-Match"?: string}}, answer: Message},
 *   "PATCH /v1/rooms/{room}/messages/{seq}": {request: {path: {room: string, seq: number}, headers?: {"If-Match"?: string}, body: Edit}, answer: Message},
 *   "DELETE /v1/rooms/{room}/messages/{seq}": {request: {path: {room: string, seq: number}, headers?: {"If-Match"?: string}}, answer: Message},
 *   "GET /v1/rooms/{room}/messages/by-client-id/{client_message_id}": {request: {path: {room: string, client_message_id: string}, headers?: {"If-None-Match"?: string}}, answer: Message},
 *   "GET /v1/rooms/{room}/messages/{seq}/reactions/{key}": {request: {path: {room: string, seq: number, key: string}, query?: {after?: string | number, limit?: number}}, answer: ReactingUsers},
 *   "PUT /v1/rooms/{room}/messages/{seq}/reactions/{key}": {request: {path: {room: string, seq: number, key: string}, headers?: {"If-Match"?: string}}, answer: Message},
 *   "DELETE /v1/rooms/{room}/messages/{seq}/reactions/{key}": {request: {path: {room: string, seq: number, key: string}, headers?: {"If-Match"?: string}}, answer: Message},
 *   "POST /v1/rooms/{room}/messages/{seq}/reports": {request: {path: {room: string, seq: number}, body: ReportDraft}, answer: ReportEntry},
 *   "PUT /v1/rooms/{room}/messages/{seq}/pin": {request: {path: {room: string, seq: number}, headers?: {"If-Match"?: string}}, answer: Message},
 *   "DELETE /v1/rooms/{room}/messages/{seq}/pin": {request: {path: {room: string, seq: number}, headers?: {"If-Match"?: string}}, answer: Message},
 *   "GET /v1/rooms/{room}/pins": {request: {path: {room: string}, query?: {cursor?: string | number, limit?: number}}, answer: Pins},
 *   "GET /v1/rooms/{room}/changes": {request: {path: {room: string}, query?: {since?: string | number, epoch?: string | number, limit?: number}}, answer: Changes},
 *   "GET /v1/rooms/{room}/search": {request: {path: {room: string}, query: {q: string | number, sender?: string | number, before?: string | number, after?: string | number, has?: SearchedPart, cursor?: string | number, limit?: number}}, answer: SearchHits},
 *   "GET /v1/search": {request: {query: {q: string | number, sender?: string | number, before?: string | number, after?: string | number, has?: SearchedPart, cursor?: string | number, limit?: number}}, answer: SearchHits},
 *   "GET /v1/rooms": {request: {query?: {cursor?: string | number, limit?: number}}, answer: Rooms},
 *   "GET /v1/mentions": {request: {query?: {cursor?: string | number, limit?: number}}, answer: MentioningMessages},
 *   "GET /v1/rooms/{room}": {request: {path: {room: string}}, answer: Room},
 *   "PUT /v1/rooms/{room}": {request: {path: {room: string}, body: RoomSettings}, answer: Room},
 *   "DELETE /v1/rooms/{room}": {request: {path: {room: string}}, answer: null},
 *   "PUT /v1/rooms/{room}/read": {request: {path: {room: string}, body: ReadMark}, answer: Room},
 *   "GET /v1/rooms/{room}/reads": {request: {path: {room: string}, query?: {after?: string | number, from?: number, limit?: number}}, answer: Reads},
 *   "PUT /v1/rooms/{room}/notify": {request: {path: {room: string}, body: NotifySettings}, answer: Notify},
 *   "GET /v1/rooms/{room}/presence": {request: {path: {room: string}}, answer: Presence},
 *   "PUT /v1/direct/{user}": {request: {path: {user: string}}, answer: Room},
 *   "GET /v1/blocks": {request: {query?: {after?: string | number, limit?: number}}, answer: Blocks},
 *   "PUT /v1/blocks/{user}": {request: {path: {user: string}}, answer: Block},
 *   "DELETE /v1/blocks/{user}": {request: {path: {user: string}}, answer: null},
 *   "GET /v1/rooms/{room}/members": {request: {path: {room: string}, query?: {after?: string | number, limit?: number, profiles?: boolean}}, answer: Members},
 *   "GET /v1/rooms/{room}/members/{user}": {request: {path: {room: string, user: string}}, answer: Member},
 *   "PUT /v1/rooms/{room}/members/{user}": {request: {path: {room: string, user: string}, body?: MemberRole}, answer: Member},
 *   "DELETE /v1/rooms/{room}/members/{user}": {request: {path: {room: string, user: string}}, answer: null},
 *   "GET /v1/rooms/{room}/bans": {request: {path: {room: string}, query?: {after?: string | number, limit?: number}}, answer: Bans},
 *   "GET /v1/rooms/{room}/bans/{user}": {request: {path: {room: string, user: string}}, answer: Ban},
 *   "PUT /v1/rooms/{room}/bans/{user}": {request: {path: {room: string, user: string}, body?: BanSettings}, answer: Ban},
 *   "DELETE /v1/rooms/{room}/bans/{user}": {request: {path: {room: string, user: string}}, answer: null},
 *   "GET /v1/profiles": {request: {query: {users: string | number}, headers?: {"If-None-Match"?: string}}, answer: Profiles},
 *   "PUT /v1/profiles/{user}": {request: {path: {user: string}, body: ProfileSettings}, answer: Profile},
 *   "GET /v1/rooms/{room}/live": {request: {path: {room: string}, query?: {since?: string | number, epoch?: string | number}, headers?: {"Last-Event-ID"?: string}}, answer: string | null},
 *   "GET /v1/live": {request: {}, answer: null},
 *   "GET /v1/admin/rooms": {request: {query?: {cursor?: string | number, limit?: number}}, answer: AdminRooms},
 *   "GET /v1/admin/users/{user}": {request: {path: {user: string}, query?: {after?: string | number, limit?: number}}, answer: AdminUser},
 *   "DELETE /v1/admin/users/{user}/sockets": {request: {path: {user: string}}, answer: null},
 *   "GET /v1/admin/reports": {request: {query?: {state?: ReportState, cursor?: string | number, limit?: number}}, answer: Reports},
 *   "PUT /v1/admin/reports/{room}/{seq}": {request: {path: {room: string, seq: number}, body: ReportDecision}, answer: Report},
 *   "GET /v1/admin/webhooks": {request: {}, answer: Webhooks},
 *   "GET /v1/admin/webhooks/{webhook}": {request: {path: {webhook: string}}, answer: Webhook},
 *   "PUT /v1/admin/webhooks/{webhook}": {request: {path: {webhook: string}, body: WebhookSettings}, answer: Webhook},
 *   "DELETE /v1/admin/webhooks/{webhook}": {request: {path: {webhook: string}}, answer: null},
 *   "POST /v1/admin/webhooks/{webhook}/skip": {request: {path: {webhook: string}, body: WebhookSkip}, answer: Webhook},
 *   "POST /v1/admin/webhooks/{webhook}/replay": {request: {path: {webhook: string}, body: WebhookReplay}, answer: Webhook},
 *   "POST /v1/admin/webhooks/{webhook}/rotate": {request: {path: {webhook: string}, body?: WebhookRotation}, answer: Webhook},
 *   "POST /v1/admin/webhooks/{webhook}/test": {request: {path: {webhook: string}}, answer: WebhookTest},
 *   "GET /v1/users/{user}": {request: {path: {user: string}}, answer: Erasure},
 *   "DELETE /v1/users/{user}": {request: {path: {user: string}}, answer: Erasure},
 *   "GET /v1/admin/bans": {request: {query?: {after?: string | number, limit?: number}}, answer: Bans},
 *   "GET /v1/admin/bans/{user}": {request: {path: {user: string}}, answer: Ban},
 *   "PUT /v1/admin/bans/{user}": {request: {path: {user: string}, body?: BanSettings}, answer: Ban},
 *   "DELETE /v1/admin/bans/{user}": {request: {path: {user: string}}, answer: null},
 *   "GET /healthz": {request: {}, answer: Status},
 *   "GET /readyz": {request: {}, answer: Status},
 *   "GET /metrics": {request: {}, answer: string},
 *   "GET /openapi.json": {request: {headers?: {"If-None-Match"?: string}}, answer: OpenAPIDocument},
 *   "GET /docs": {request: {headers?: {"If-None-Match"?: string}}, answer: string},
 *   "GET /": {request: {headers?: {"If-None-Match"?: string}}, answer: string},
 * }} Operations
 *
 * @module server-api
 */
export {};
