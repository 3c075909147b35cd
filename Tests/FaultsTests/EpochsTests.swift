import Testing

@testable import Faults

@Suite("The epoch of the fault new-epoch")
struct EpochsTests {
    @Test func `replaces the true one in whatever the server sends`() {
        let answer = #"{"rooms":[{"epoch":"Ab1"}],"epoch":"Ab1"}"#
        #expect(
            Epochs.renamed(Array(answer.utf8), "Ab1")
                == Array(#"{"rooms":[{"epoch":"Ab1fault"}],"epoch":"Ab1fault"}"#.utf8))
    }

    @Test(arguments: [
        ("/v1/rooms/a/changes?since=Ab1fault:3&limit=5", "/v1/rooms/a/changes?since=Ab1:3&limit=5"),
        ("/v1/rooms/a/changes?since=Ab1:3", "/v1/rooms/a/changes?since=Ab1fault:3"),
        ("/x?epoch=Ab1fault&since=Ab1fault%3A7", "/x?epoch=Ab1&since=Ab1%3A7"),
        ("/x?fault=new-epoch&since=12&epoch=Ab1", "/x?fault=new-epoch&since=12&epoch=Ab1fault"),
        ("/v1/rooms?cursor=Ab1fault:17:lobby", "/v1/rooms?cursor=Ab1:17:lobby"),
        (#"{"since" : "Ab1fault:0","room":"since"}"#, #"{"since" : "Ab1:0","room":"since"}"#),
        (#"{"type":"subscribe","epoch":"Ab1","since":7}"#, #"{"type":"subscribe","epoch":"Ab1fault","since":7}"#),
        (#"{"since":"7"}"#, #"{"since":"7"}"#),
    ])
    func `is replaced by the true one in requests and frames, and the true one by one that is unknown`(
        sent: String, expected: String
    ) {
        #expect(Epochs.restored(in: sent) == expected)
    }

    @Test func `is replaced in the ids of events`() {
        #expect(Epochs.restored(eventID: "Ab1fault:3") == "Ab1:3")
        #expect(Epochs.restored(eventID: "Ab1:3") == "Ab1fault:3")
        #expect(Epochs.restored(eventID: "refused") == "refused" && Epochs.restored(eventID: "").isEmpty)
    }
}
