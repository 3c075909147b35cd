import Chat
import HTTP
import HTTPTypes
import Wire

/// The members of a room.
enum MemberRoutes {
    /// `GET /v1/rooms/{room}/members`
    static func members(_ request: RoutedRequest) throws(Problem) {
        let after = try request.afterUser()
        let limit = try request.limit(maximum: Limits.members, default: Limits.defaultMembers)
        let withProfiles = try request.flag("profiles")
        request.ask({
            .room(request.room, .members(after: after, limit: limit, withProfiles: withProfiles, $0))
        }) { members in
            request.answerJSON { members.encode(into: &$0) }
        }
    }

    /// `GET /v1/rooms/{room}/members/{user}`
    static func member(_ request: RoutedRequest) throws(Problem) {
        answerMember(request)
    }

    /// `PUT /v1/rooms/{room}/members/{user}`
    static func set(_ request: RoutedRequest) throws(Problem) {
        try admit(request)
        let role = try RoomMember.decodeRole(request.body)
        try request.submit(.room(.setMember(request.user, role))) { receipt in
            answerMember(request, receipt.isNew ? .created : .ok)
        }
    }

    /// `DELETE /v1/rooms/{room}/members/{user}`
    static func remove(_ request: RoutedRequest) throws(Problem) {
        try request.submit(.room(.removeMember(request.user))) { _ in request.answerNoContent() }
    }

    private static func answerMember(_ request: RoutedRequest, _ status: HTTPResponse.Status = .ok) {
        request.ask({ .room(request.room, .member(request.user, $0)) }) { member in
            guard let member else { return request.refuse(.memberNotFound) }
            request.answerJSON(status) { member.encode(into: &$0) }
        }
    }

    /// Counts the addition of a member: as a change, and if a caller other than an admin adds another user, also
    /// against the limit of invites.
    private static func admit(_ request: RoutedRequest) throws(Problem) {
        if request.user == request.caller.user { try request.admit(.changes) } else { try request.admitInvite() }
    }
}
