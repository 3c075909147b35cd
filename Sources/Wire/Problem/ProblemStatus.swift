extension Problem.Code {
    /// The HTTP status of an answer with this code. Codes that occur only in `error` frames have a related status.
    public var status: Int {
        switch self {
        case .badRequest, .invalidJSON, .invalidField, .invalidCursor, .invalidLimit, .invalidRoom, .invalidUser,
            .invalidReaction, .invalidFault, .unknownType, .requestLineInvalid, .lineEndInvalid, .tooManyEmptyLines,
            .targetInvalid,
            .targetEncodingInvalid, .fieldLineInvalid, .fieldNameInvalid, .fieldValueInvalid, .lineFolded,
            .hostMissing, .hostRepeated, .hostInvalid, .framingAmbiguous, .contentLengthInvalid,
            .contentLengthRepeated, .transferEncodingInvalid, .transferEncodingUnexpected, .chunkInvalid,
            .chunkExtensionsTooLong:
            400
        case .unauthenticated, .tokenMissing, .tokenInvalid, .tokenExpired, .tokenNotYetValid, .disconnected: 401
        case .forbidden, .notTheSender, .notAMember, .receiptsOff, .postingRestricted, .banned, .blocked,
            .rejected, .roomNotAllowed,
            .originNotAllowed:
            403
        case .notFound, .roomNotFound, .memberNotFound, .messageNotFound, .banNotFound, .reportNotFound,
            .erasureNotFound, .webhookNotFound:
            404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .messageDeleted, .lastOwner, .alreadySubscribed, .notSubscribed: 409
        case .cursorUnknown, .roomDeleted: 410
        case .preconditionFailed, .headMoved: 412
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedMediaType: 415
        case .expectationUnknown: 417
        case .hostNotAllowed: 421
        case .tooLong, .tooMany, .tooDeep, .emptyMessage, .emptyField, .nulCharacter, .invalidAttachment, .sizeMissing,
            .replyToNotFound, .clientMessageIDReused, .tooManyReactions, .tooManyPins, .banOver, .tooManyBans,
            .tooManyBlocks, .tooManyWebhooks,
            .directRoom, .queryInvalid,
            .tooManySubscriptions:
            422
        case .upgradeRequired: 426
        case .rateLimited, .slowMode: 429
        case .headTooLarge, .tooManyFields, .trailersTooLarge: 431
        case .internalError: 500
        case .notAvailable, .methodTooLong, .transferCodingUnknown: 501
        case .overloaded, .unavailable, .storageFull, .storageLost, .roomUnavailable, .indexBuilding,
            .tooManyConnections:
            503
        case .versionUnsupported: 505
        }
    }

    /// The codes of requests that are not HTTP/1.1 as RFC 9112 defines it. They are possible for any resource.
    public static let malformed: [Problem.Code] = [
        .badRequest, .requestLineInvalid, .lineEndInvalid, .tooManyEmptyLines, .targetInvalid, .targetEncodingInvalid,
        .fieldLineInvalid, .fieldNameInvalid, .fieldValueInvalid, .lineFolded, .hostMissing, .hostRepeated,
        .hostInvalid, .framingAmbiguous, .contentLengthInvalid, .contentLengthRepeated, .transferEncodingInvalid,
        .transferEncodingUnexpected, .chunkInvalid, .chunkExtensionsTooLong,
    ]
}
