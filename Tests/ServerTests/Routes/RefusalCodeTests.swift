import HTTPTypes
import Testing
import Wire

@testable import HTTP
@testable import Server

@Suite("Every refusal of the codec")
struct RefusalCodeTests {
    @Test(
        arguments: [
            .requestLineInvalid, .lineEndInvalid, .tooManyEmptyLines(limit: 1), .methodTooLong(limit: 1),
            .targetInvalid, .targetEncodingInvalid, .targetTooLong(limit: 1), .versionUnsupported, .fieldLineInvalid,
            .fieldNameInvalid, .fieldValueInvalid, .lineFolded, .headTooLarge(limit: 1), .tooManyFields(limit: 1),
            .hostMissing, .hostRepeated, .hostInvalid, .expectationUnknown, .framingAmbiguous, .contentLengthInvalid,
            .contentLengthRepeated, .transferEncodingInvalid, .transferEncodingUnexpected, .transferCodingUnknown,
            .bodyTooLarge(limit: 1), .chunkInvalid, .chunkExtensionsTooLong(limit: 1), .trailersTooLarge(limit: 1),
        ] as [RequestRefusal])
    func `has a known code under its status`(refusal: RequestRefusal) {
        let code = Problem.Code(rawValue: refusal.code)
        #expect(code?.status == refusal.status.code)
        let problem = Problem(refusal, HTTPLimits())
        #expect(problem.code == code && problem.status == refusal.status.code)
    }
}
