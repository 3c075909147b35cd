/**
 * The texts of the interface in Korean.
 *
 * @module text-ko
 */

/** @type {typeof import("./text-en.js").default} */
const texts = {
    chooseName: "대화에 쓸 이름을 정하세요.", name: "이름", start: "시작", token: "토큰", noToken: "토큰이 아닙니다.",
    wantsToken: "이 서버에는 애플리케이션이 발급한 토큰(JWT)이 필요합니다.", sessionEnded: "세션이 끝났습니다. 다시 로그인하세요.",
    nameSpaces: "이름에는 공백을 쓸 수 없습니다. 점이나 붙임표를 써 보세요.", nameDots: "점만으로는 이름이 될 수 없습니다.",
    nameInvisible: "이름에는 보이지 않는 문자를 쓸 수 없습니다.", nameLong: (bytes) => `이름은 최대 ${bytes}바이트입니다.`,
    rooms: "대화방", newRoom: "새 대화방", filter: "검색", filterRooms: "대화방 검색", noRoomFound: "이런 이름의 대화방이 없습니다.",
    noRooms: "아직 대화방이 없습니다", noRoomsHint: "새로 만들거나 대화방 링크를 여세요.", chooseRoom: "대화방을 고르거나 새로 만드세요.",
    badRoom: (id) => `“${id}”은(는) 대화방이 될 수 없습니다. 대화방 아이디는 영문자나 숫자로 시작하고, 영문자, 숫자, . _ ~ -로 최대 128자입니다.`,
    private: "비공개", muted: "알림 꺼짐", onlyMentions: "멘션만", mentionsOnly: "멘션만", you: "나", draft: "작성 중: ", noMessages: "아직 메시지가 없습니다",
    unreadCount: (count) => `안 읽음 ${count}개`, mentionCount: (count) => `나를 멘션함 ${count}개`,
    roomKeys: "위아래 화살표로 대화방을 옮겨 다닙니다.", deletedUser: "탈퇴한 사용자",

    connecting: "연결 중…", catchingUp: "불러오는 중…", offline: "오프라인", noAnswer: "서버가 응답하지 않습니다",
    here: (count) => `${count}명 접속 중`, backToRooms: "대화방 목록으로", join: "참여", members: "멤버", messages: "메시지",
    listKeys: "위아래 화살표로 메시지를, 좌우 화살표로 메시지 안을 옮겨 다닙니다. 메뉴 키는 메뉴를 엽니다. Home과 End는 첫 메시지와 최신 메시지로, Escape는 입력란으로 갑니다.",
    loading: "불러오는 중…", loadFailed: "불러오지 못했습니다. 스크롤하면 다시 시도합니다.", willLoad: "서버가 응답하면 메시지가 나타납니다.",
    writeFirst: "첫 메시지를 보내 보세요.", newMessages: "새 메시지", newCount: (count) => ` (새 메시지 ${count}개)`,
    toMention: "나를 멘션한 메시지로", toMentionOf: (count) => `나를 멘션한 메시지로, 안 읽음 ${count}개`,
    goBack: "보던 곳으로", toNewest: "최신 메시지로",
    manyType: "여러 명이 입력 중…", typing: () => ["", "님이 입력 중…"],
    notMember: "이 대화방의 멤버가 아닙니다.", banned: "이 대화방에서 차단되었습니다.", roomDeleted: "삭제된 대화방입니다.",
    goToDay: "날짜로 이동", day: "날짜", go: "이동", noDay: "그날부터는 메시지가 없습니다.",
    pinnedMessages: "고정된 메시지", pinnedMessage: "고정된 메시지", noPins: "고정된 메시지가 없습니다.", list: "목록",
    allPins: (count) => `전체 ${count}개`, pinnedBy: (name) => `${name}님이 고정함`, unpinOf: (message) => `고정 해제: ${message}`,
    mentions: "나를 멘션한 메시지", noMentions: "나를 멘션한 메시지가 없습니다.", showMore: "더 보기",
    search: "메시지 검색", find: "검색", searchRoom: "이 대화방에서 검색", searchWords: "단어나 “구절”. 단어 앞의 -는 그 단어를 뺍니다", searchHere: "이 대화방에서만",
    noHits: "찾는 말이 있는 메시지가 없습니다.", indexing: "오래된 메시지는 아직 색인 중입니다.",

    blockedMessage: "차단한 사용자의 메시지입니다.", show: "보기", deletedMessage: "삭제된 메시지입니다.", deleted: "삭제됨", edited: "수정됨",
    picture: "사진", video: "동영상", audio: "오디오", file: "파일", link: "링크", previousPicture: "이전 사진", nextPicture: "다음 사진",
    openOriginal: "원본 열기", copy: "복사", copyCode: "코드 복사", codeCopied: "코드를 복사했습니다.",
    actions: "메시지 메뉴", like: "좋아요", react: "반응", chooseReaction: "반응 고르기", reactWith: (key) => `${key} 반응`,
    reply: "답장", edit: "수정", more: "더 보기", copyText: "텍스트 복사", textCopied: "텍스트를 복사했습니다.", copyLink: "링크 복사",
    linkCopied: "링크를 복사했습니다.", pin: "고정", unpin: "고정 해제", deleteDots: "삭제…", delete: "삭제", report: "신고", reportDots: "신고…",
    block: "차단", blockOf: (name) => `${name}님 차단…`, unblockOf: (name) => `${name}님 차단 해제`,
    askBlock: (name) => `${name}님을 차단할까요? ${name}님의 메시지가 보이지 않고, 개인 메시지도 오지 않습니다.`,
    askDelete: (text) => `${text ? `“${text}”` : "이 메시지"}을(를) 모두에게서 삭제할까요?`,
    aMessage: "메시지", inReplyTo: (message) => `답장한 메시지: ${message}`, unreadable: "읽을 수 없는 메시지입니다.",
    readByAll: "모두 읽음", readBySome: "일부 읽음", sent: "보냄", sending: "보내는 중", waiting: "전송 대기 중", notSent: "전송 실패",
    readBy: ["", " 읽음"], others: (count) => `외 ${count}명`, unreadBy: (count) => `${count}명이 안 읽음`,
    retry: "다시 시도", discard: "버리기", failed: "보내지 못했습니다.",
    failures: {
        too_long: "메시지가 너무 깁니다.", banned: "여기에는 보낼 수 없습니다.", blocked: "이 사용자에게는 보낼 수 없습니다.",
        unauthenticated: "로그인하지 않았습니다.", posting_restricted: "이 대화방에는 소유자만 쓸 수 있습니다.",
        rejected: "메시지가 받아들여지지 않았습니다.",
        not_a_member: "더 이상 멤버가 아닙니다.", room_not_found: "없는 대화방입니다.", room_deleted: "삭제된 대화방입니다.",
    },

    message: "메시지", send: "보내기", names: "멘션할 사람", cancel: "취소", editMessage: "메시지 수정", replyTo: ["", "님에게 답장"],
    bytesLeft: (count) => `${count}바이트 남음`, tooLong: (count) => `${count}바이트 초과`,
    noFiles: "Backscroll은 파일을 저장하지 않습니다. 사진을 웹사이트에 올리고 그 주소를 여기에 붙여 넣으세요.",
    pictureLate: "사진이 열리지 않습니다.", pictureSize: "사진의 크기를 알 수 없습니다.", pictureBroken: "사진을 불러올 수 없습니다.",
    ownersWrite: "소유자만 쓸 수 있습니다", ownersOnly: "이 대화방에는 소유자만 쓸 수 있습니다.",
    slowMode: (time) => `느린 모드: ${time}`, slowSends: (time) => `느린 모드: 메시지가 ${time} 뒤에 전송됩니다.`,

    close: "닫기", save: "저장", add: "추가", remove: "내보내기", write: "메시지", owner: "소유자",
    roomID: "대화방 아이디", roomIDHint: "영문자, 숫자, . _ ~ -로 최대 128자, 첫 글자는 영문자나 숫자", title: "제목",
    titleOptional: "제목 (선택)", isPrivate: "비공개: 멤버만 볼 수 있음", makeRoom: "만들기",
    addMember: "멤버 추가", showUnread: "메시지마다 안 읽은 사람 수 보기", leave: "나가기", leaveRoom: "대화방 나가기", settings: "설정",
    removeOf: (name) => `${name}님 내보내기`, writeTo: (name) => `${name}님에게 메시지`,
    askRemove: (name) => `${name}님을 대화방에서 내보낼까요?`, askLeave: (room) => `${room}에서 나갈까요?`,
    profile: "내 이름과 사진", avatar: "사진 주소 (선택)", language: "언어",
    notify: "이 기기에서 새 메시지 알림 받기", notifyRefused: "브라우저가 이 페이지의 알림을 허용하지 않습니다. 브라우저의 페이지 설정에서 허용하세요.",
    roomSettings: "대화방 설정", slowTime: "느린 모드: 한 멤버의 메시지 사이 간격", off: "끔",
    keepDays: "메시지 보관 일수 (비우면 서버 설정대로)", badDays: "일수는 숫자이거나 비어 있어야 합니다.",
    ownersSend: "소유자만 메시지를 보낼 수 있음", membersPin: "모든 멤버가 메시지를 고정할 수 있음", searchable: "메시지를 검색할 수 있습니다",
    mute: "이 대화방의 알림", muteOf: (level) => `알림: ${level}`, allMessages: "모든 메시지", nothing: "없음",
    howLong: "기간", hour: "1시간 동안", morning: "내일 아침까지", forever: "계속", until: (time) => `${time}까지`,
    reportMessage: "메시지 신고", spam: "스팸", abuse: "욕설이나 위협", illegal: "불법 내용", other: "기타",
    reportNote: "운영자에게 남길 말 (선택)", reported: "메시지를 신고했습니다. 운영자가 살펴볼 것입니다.",

    problems: {
        unreachable: "서버에 연결할 수 없습니다.", rate_limited: "요청이 너무 많습니다. 잠시 뒤 다시 시도하세요.",
        query_invalid: "단어나 \"구절\"을 8개까지, 저마다 64자까지 쓸 수 있습니다. 빼지 않는 말이 하나는 있어야 합니다.", index_building: "검색 준비가 끝나지 않았습니다. 잠시 뒤 다시 시도하세요.",
        overloaded: "서버가 바쁩니다. 잠시 뒤 다시 시도하세요.", unavailable: "서버가 바쁩니다. 잠시 뒤 다시 시도하세요.",
    },
};
export default texts;
