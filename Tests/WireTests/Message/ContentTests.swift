import TestSupport
import Testing
import Wire

@Suite struct ContentTests {
    private func content(_ body: String) throws(Problem) -> Content {
        try Draft.decode(body).content
    }

    @Test(arguments: [
        (#"{"text":"x"}"#, #"{"text":"\u0078","attachments":[],"reply_to":null,"data":{}}"#),
        (#"{"text":"x","data":{"a":1,"b":2}}"#, #"{"data":{"b":2,"a":1},"text":"x"}"#),
        (#"{"text":"x","data":{"a":1}}"#, #"{"text":"x","data":{"a":1.0}}"#),
        (#"{"text":"x","data":{"a":1}}"#, #"{"text":"x","data":{"a":1e0}}"#),
        (#"{"text":"x","data":{"a":[{"b":1,"c":[]}]}}"#, #"{"text":"x","data":{"a":[{"c":[],"b":10e-1}]}}"#),
        (#"{"text":"x","data":{"a":"\u00e9\/"}}"#, #"{"text":"x","data":{"\u0061":"é/"}}"#),
        (#"{"text":"x","reply_to":5}"#, #"{"text":"x","reply_to":5.0}"#),
        (#"{"text":"x"}"#, #"{"text":"x","mentions":[],"mentions_room":false}"#),
        (#"{"text":"x"}"#, #"{"text":"x","mentions":null,"mentions_room":null}"#),
        (#"{"text":"x"}"#, #"{"text":"x","silent":false}"#),
        (#"{"text":"x","mentions":["bob","al"]}"#, #"{"mentions":["\u0062ob","al","bob"],"text":"x"}"#),
        (
            #"{"attachments":[{"type":"link","url":"http://x","title":""}]}"#,
            #"{"attachments":[{"url":"http:\/\/x","type":"link","size":null}],"text":""}"#
        ),
    ])
    func `equal values are equal content, in any notation`(a: String, b: String) throws {
        #expect(try content(a).isSame(as: content(b)))
        #expect(try content(b).isSame(as: content(a)))
        #expect(try content(a).canonicalBytes == content(b).canonicalBytes)
    }

    @Test(arguments: [
        (#"{"text":"x"}"#, #"{"text":"X"}"#), (#"{"text":"x"}"#, #"{"text":"x "}"#),
        (#"{"text":"\u00e9"}"#, #"{"text":"e\u0301"}"#), (#"{"text":"x"}"#, #"{"text":"x","reply_to":1}"#),
        (#"{"text":"x","reply_to":2}"#, #"{"text":"x","reply_to":1}"#),
        (#"{"text":"x"}"#, #"{"text":"x","mentions":["bob"]}"#),
        (#"{"text":"x"}"#, #"{"text":"x","mentions_room":true}"#),
        (#"{"text":"x"}"#, #"{"text":"x","silent":true}"#),
        (#"{"text":"x","mentions":["al","bob"]}"#, #"{"text":"x","mentions":["bob","al"]}"#),
        (#"{"text":"x","mentions":["\u00e9"]}"#, #"{"text":"x","mentions":["e\u0301"]}"#),
        (#"{"text":"x"}"#, #"{"text":"x","data":{"a":null}}"#),
        (#"{"text":"x","data":{"a":null}}"#, #"{"text":"x","data":{"a":""}}"#),
        (#"{"text":"x","data":{"a":1}}"#, #"{"text":"x","data":{"a":"1"}}"#),
        (#"{"text":"x","data":{"a":1}}"#, #"{"text":"x","data":{"a":true}}"#),
        (#"{"text":"x","data":{"a":[1,2]}}"#, #"{"text":"x","data":{"a":[2,1]}}"#),
        (#"{"text":"x","data":{"a":[]}}"#, #"{"text":"x","data":{"a":{}}}"#),
        (#"{"text":"x","data":{"\u00e9":1}}"#, #"{"text":"x","data":{"e\u0301":1}}"#),
        (#"{"text":"x","data":{"n":9007199254740993}}"#, #"{"text":"x","data":{"n":9007199254740992}}"#),
        (#"{"text":"x","data":{"a":1e400}}"#, #"{"text":"x","data":{"a":1e401}}"#),
        (#"{"text":"x"}"#, #"{"text":"x","attachments":[{"type":"link","url":"http://x"}]}"#),
        (
            #"{"attachments":[{"type":"link","url":"http://x"},{"type":"link","url":"http://y"}]}"#,
            #"{"attachments":[{"type":"link","url":"http://y"},{"type":"link","url":"http://x"}]}"#
        ),
    ])
    func `other values are different content`(a: String, b: String) throws {
        #expect(try !content(a).isSame(as: content(b)))
        #expect(try !content(b).isSame(as: content(a)))
        #expect(try content(a).canonicalBytes != content(b).canonicalBytes)
    }

    @Test func `a content equals what is decoded from it`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<300 {
            let text = random.quoted("x" + random.string(upTo: 30))
            let draft = try Draft.decode(
                #"{"text":\#(text),"mentions":["bob"],"mentions_room":true,"silent":true,"data":{"d":1}}"#)
            var bytes: [UInt8] = []
            Message.encode(
                room: try RoomID("r"), seq: 1, rev: 1, sender: try UserID("u"), draft: draft,
                createdAt: Timestamp(milliseconds: 0), into: &bytes)
            #expect(try Message(decoding: bytes).content.isSame(as: draft.content))
        }
    }
}
