import Chat
import Testing
import Wire

@Suite struct ServiceProblemTests {
    @Test(
        arguments: [
            (.badRequest(""), 400, "bad_request"),
            (.notFound, 404, "not_found"),
            (.messageNotFound, 404, "message_not_found"), (.cursorUnknown, 410, "cursor_unknown"),
            (.unauthenticated(""), 401, "unauthenticated"), (.forbidden(""), 403, "forbidden"),
            (.notAMember, 403, "not_a_member"), (.alreadySubscribed, 409, "already_subscribed"),
            (.notSubscribed, 409, "not_subscribed"),
            (.tooManySubscriptions(limit: 1), 422, "too_many_subscriptions"),
            (.notAvailable(""), 501, "not_available"), (.originNotAllowed, 403, "origin_not_allowed"),
            (.hostNotAllowed("x"), 421, "host_not_allowed"), (.hostNotAllowed(nil), 421, "host_not_allowed"),
            (.methodNotAllowed, 405, "method_not_allowed"),
            (.unsupportedMediaType, 415, "unsupported_media_type"), (.bodyTooLarge(limit: 1), 413, "body_too_large"),
            (.requestTimeout(""), 408, "request_timeout"),
            (.rateLimited(retryAfter: 3), 429, "rate_limited"), (.overloaded, 503, "overloaded"),
            (.unavailable(""), 503, "unavailable"), (.storageFull, 503, "storage_full"),
            (.storageLost, 503, "storage_lost"), (.roomUnavailable, 503, "room_unavailable"),
        ] as [(Problem, Int, String)])
    func `codes are stable`(problem: Problem, status: Int, code: String) {
        #expect(problem.status == status)
        #expect(problem.code.status == status)
        #expect(problem.code.string == code)
        #expect(problem.code.description == code)
    }

    @Test func `a temporary refusal says how long it lasts`() {
        #expect(Problem.overloaded.retryAfter == 1)
        #expect(Problem.storageFull.retryAfter == 5)
        #expect(Problem.storageLost.retryAfter == 5)
        #expect(Problem.unavailable("").retryAfter == 1)
        #expect(Problem.rateLimited(retryAfter: 3).retryAfter == 3)
        #expect(Problem.notFound.retryAfter == nil)
    }
}
