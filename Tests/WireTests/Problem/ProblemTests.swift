import Testing
import Wire

@Suite struct ProblemTests {
    @Test func `a problem is encoded as in RFC 9457`() {
        let text = """
            {"type":"about:blank","title":"Unprocessable Content","status":422,"code":"too_long",\
            "detail":"text must not have more than 16384 bytes.","field":"text","limit":16384}
            """
        #expect(written(Problem.tooLong("text", limit: 16384).encode) == text)
    }

    @Test func `unknown members are left out, and Retry-After is a header only`() {
        let overloaded = Problem(
            code: .overloaded, detail: "The server is overloaded. Try again later.", retryAfter: 1)
        let text = """
            {"type":"about:blank","title":"Service Unavailable","status":503,"code":"overloaded",\
            "detail":"The server is overloaded. Try again later."}
            """
        #expect(written(overloaded.encode) == text)
    }

    @Test func `a moved head is told`() {
        #expect(written(Problem.headMoved(41).encode).hasSuffix(#""field":"expect_head","head":41}"#))
    }

    @Test func `text of the client is escaped`() {
        let text = written(Problem.unknownType("\"\n").encode)
        #expect(text.contains(#"Unknown frame type \"\"\n\"."#))
    }

    @Test(
        arguments: [
            (.invalidJSON(""), 400, "invalid_json"), (.invalidField("f", must: "a string"), 400, "invalid_field"),
            (.invalidCursor("before", detail: ""), 400, "invalid_cursor"),
            (.invalidLimit(maximum: 200), 400, "invalid_limit"), (.invalidRoom, 400, "invalid_room"),
            (.invalidUser, 400, "invalid_user"), (.unknownType("x"), 400, "unknown_type"),
            (.tooLong("f", limit: 1), 422, "too_long"),
            (.tooMany("f", limit: 1), 422, "too_many"), (.tooDeep("f", limit: 1), 422, "too_deep"),
            (.emptyMessage, 422, "empty_message"), (.emptyField("f"), 422, "empty_field"),
            (.nulCharacter("f"), 422, "nul_character"), (.invalidAttachment("f", must: "x"), 422, "invalid_attachment"),
            (.sizeMissing("f"), 422, "size_missing"), (.replyToNotFound, 422, "reply_to_not_found"),
            (.clientMessageIDReused, 422, "client_message_id_reused"), (.invalidReaction, 400, "invalid_reaction"),
            (.notTheSender, 403, "not_the_sender"), (.messageDeleted, 409, "message_deleted"),
            (.preconditionFailed(rev: 1), 412, "precondition_failed"),
            (.headMoved(3), 412, "head_moved"), (.tooManyPins, 422, "too_many_pins"),
            (.outOfRange("f", 0...1), 400, "invalid_field"),
            (.tooManyReactions, 422, "too_many_reactions"),
            (.internalError(""), 500, "internal_error"),
        ] as [(Problem, Int, String)])
    func `codes are stable`(problem: Problem, status: Int, code: String) {
        #expect(problem.status == status)
        #expect(problem.code.status == status)
        #expect(problem.code.string == code)
        #expect(problem.code.description == code)
    }

    @Test func `every error status has a title`() {
        let titles = (400..<600).map { Problem.title(of: $0) }
        #expect(titles.allSatisfy { !$0.isEmpty })
        #expect(titles[429 - 400] == "Too Many Requests")
        #expect(titles[418 - 400] == "Bad Request")
        #expect(titles[599 - 400] == "Internal Server Error")
    }
}
