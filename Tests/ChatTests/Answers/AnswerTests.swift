import Chat
import Testing
import Wire

@Suite struct AnswerTests {
    @Test func `a page contains the snapshots unchanged`() {
        let page = PageAnswer(
            messages: Array(#"{"seq":1},{"seq":2}"#.utf8), hasBefore: false, hasAfter: true, head: 5, rev: 9, epoch: "E"
        )
        let text =
            #"{"messages":[{"seq":1},{"seq":2}],"has_before":false,"has_after":true,"head":5,"rev":9,"epoch":"E"}"#
        #expect(written(page.encode) == text)
    }

    @Test func `an empty page has an empty list`() {
        let page = PageAnswer(messages: [], hasBefore: false, hasAfter: false, head: 0, rev: 0, epoch: "E")
        let text = #"{"messages":[],"has_before":false,"has_after":false,"head":0,"rev":0,"epoch":"E"}"#
        #expect(written(page.encode) == text)
    }

    @Test func `a page at a personal place ends with the caller's read state`() {
        var page = PageAnswer(messages: [], hasBefore: true, hasAfter: false, head: 7, rev: 9, epoch: "E")
        let text = #"{"messages":[],"has_before":true,"has_after":false,"head":7,"rev":9,"epoch":"E""#
        page.readState = ReadState(read: 4, unread: 2, firstUnread: 6)
        #expect(written(page.encode) == text + #","read":4,"unread":2,"first_unread":6}"#)
        page.readState = ReadState(read: 7)
        #expect(written(page.encode) == text + #","read":7,"unread":0}"#)
    }

    @Test func `changes contain the snapshots unchanged`() {
        let changes = ChangesAnswer(messages: Array(#"{"seq":1}"#.utf8), rev: 9, hasMore: true, epoch: "E")
        #expect(written(changes.encode) == #"{"messages":[{"seq":1}],"rev":9,"has_more":true,"epoch":"E"}"#)
    }
}
