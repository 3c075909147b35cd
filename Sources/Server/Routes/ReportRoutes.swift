import Chat
import HTTPTypes
import Wire

/// Reports of messages, and the work of moderators on them.
enum ReportRoutes {
    /// `POST /v1/rooms/{room}/messages/{seq}/reports`
    static func report(_ request: RoutedRequest) throws(Problem) {
        let draft = try ReportDraft.decode(request.body)
        try request.submit(.room(.report(seq: request.seq, draft))) { receipt in
            request.answerRecord(of: receipt, .accepted)
        }
    }

    /// `GET /v1/admin/reports`
    static func reports(_ request: RoutedRequest) throws(Problem) {
        let list = try ReportsRequest.parse(
            state: request.single("state"), cursor: request.single("cursor"), limit: request.single("limit"))
        request.ask(listFrom: list.cursor?.epoch, { .server(.reports(list, $0)) }) { reports in
            if let next = reports.next {
                let state = list.isOpen ? "open" : "closed"
                request.addNextLink("/v1/admin/reports?state=\(state)&cursor=\(next)&limit=\(list.limit)")
            }
            request.answerJSON { reports.encode(into: &$0) }
        }
    }

    /// `PUT /v1/admin/reports/{room}/{seq}`
    static func close(_ request: RoutedRequest) throws(Problem) {
        let action = try ReportAction.decode(request.body)
        try request.submit(.room(.closeReport(seq: request.seq, action))) { receipt in
            request.answerRecord(of: receipt)
        }
    }
}
