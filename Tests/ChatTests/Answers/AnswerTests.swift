import Chat
import Testing
import Wire

@Suite struct AnswerTests {
    private func page(
        _ messages: String, count: Int, hasBefore: Bool = false, hasAfter: Bool = false, state: RoomState = RoomState()
    ) -> PageSlice {
        PageSlice(
            messages: Array(messages.utf8), count: count, firstSeq: 0, lastSeq: 0, hasBefore: hasBefore,
            hasAfter: hasAfter, state: state)
    }

    @Test func `a page contains the snapshots unchanged`() {
        let page = page(#"{"seq":1},{"seq":2}"#, count: 2, hasAfter: true, state: RoomState(head: 5, rev: 9))
        let text =
            #"{"messages":[{"seq":1},{"seq":2}],"has_before":false,"has_after":true,"head":5,"rev":9,"epoch":"E"}"#
        #expect(written { page.encode(epoch: "E", into: &$0) } == text)
    }

    @Test func `an empty page has an empty list`() {
        let text = #"{"messages":[],"has_before":false,"has_after":false,"head":0,"rev":0,"epoch":"E"}"#
        #expect(written { page("", count: 0).encode(epoch: "E", into: &$0) } == text)
    }

    @Test func `a page at a personal place ends with the caller's read state`() {
        var page = page("", count: 0, hasBefore: true, state: RoomState(head: 7, rev: 9))
        let text = #"{"messages":[],"has_before":true,"has_after":false,"head":7,"rev":9,"epoch":"E""#
        page.readState = ReadState(read: 4, unread: 2, firstUnread: 6, unreadMentions: 1, firstUnreadMention: 7)
        let state =
            #","read":4,"unread":2,"first_unread":6,"unread_mentions":1,"first_unread_mention":7}"#
        #expect(written { page.encode(epoch: "E", into: &$0) } == text + state)
        page.readState = ReadState(read: 7)
        #expect(written { page.encode(epoch: "E", into: &$0) } == text + #","read":7,"unread":0,"unread_mentions":0}"#)
    }

    @Test func `changes contain the snapshots unchanged`() {
        let changes = ChangeSlice(messages: Array(#"{"seq":1}"#.utf8), rev: 9, hasMore: true, state: RoomState())
        let text = #"{"messages":[{"seq":1}],"rev":9,"has_more":true,"epoch":"E"}"#
        #expect(written { changes.encode(epoch: "E", into: &$0) } == text)
    }
}
