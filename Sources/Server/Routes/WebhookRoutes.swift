import Chat
import HTTPTypes
import Transport
import Wire

/// Webhooks, for admins.
enum WebhookRoutes {
    /// `GET /v1/admin/webhooks`
    static func webhooks(_ request: RoutedRequest) throws(Problem) {
        try request.askWebhooks(for: .read, { try $0.describeAll() }) { json in request.answer(json) }
    }

    /// `GET /v1/admin/webhooks/{webhook}`
    static func webhook(_ request: RoutedRequest) throws(Problem) {
        let id = request.webhook
        try request.askWebhooks(
            for: .read,
            { deliverer in
                try deliverer.settle()
                return try deliverer.describe(id)
            }
        ) { json in request.answer(json) }
    }

    /// `PUT /v1/admin/webhooks/{webhook}`
    static func set(_ request: RoutedRequest) throws(Problem) {
        let (id, settings) = (request.webhook, try WebhookSettings.decode(request.body))
        try request.askWebhooks({ try $0.set(id, settings) }) { answer in
            request.answer(answer.json, answer.isNew ? .created : .ok)
        }
    }

    /// `DELETE /v1/admin/webhooks/{webhook}`
    static func remove(_ request: RoutedRequest) throws(Problem) {
        let id = request.webhook
        try request.askWebhooks({ try $0.remove(id) }) { request.answerNoContent() }
    }

    /// `POST /v1/admin/webhooks/{webhook}/skip`
    static func skip(_ request: RoutedRequest) throws(Problem) {
        let (id, skip) = (request.webhook, try WebhookSkip.decode(request.body))
        try request.askWebhooks({ try $0.skip(id, skip) }) { json in request.answer(json) }
    }

    /// `POST /v1/admin/webhooks/{webhook}/replay`
    static func replay(_ request: RoutedRequest) throws(Problem) {
        let (id, replay) = (request.webhook, try WebhookReplay.decode(request.body))
        try request.askWebhooks({ try $0.replay(id, replay) }) { json in request.answer(json) }
    }

    /// `POST /v1/admin/webhooks/{webhook}/rotate`
    static func rotate(_ request: RoutedRequest) throws(Problem) {
        let (id, hours) = (request.webhook, try WebhookRotation.decode(request.body))
        try request.askWebhooks({ try $0.rotate(id, keeping: hours) }) { json in request.answer(json) }
    }

    /// `POST /v1/admin/webhooks/{webhook}/test`
    static func test(_ request: RoutedRequest) throws(Problem) {
        let id = request.webhook
        let waiting = LoopBound(request, of: request.worker.loop)
        try request.askWebhooks({ deliverer in
            try deliverer.test(id) { json in
                _ = waiting.loop.post {
                    if waiting.value.exchange.isAwaited { waiting.value.answer(json) }
                }
            }
        }) { () in }
    }
}

extension RoutedRequest {
    /// Answers with a JSON object.
    fileprivate func answer(_ json: [UInt8], _ status: HTTPResponse.Status = .ok) {
        exchange.send(status, body: json.span)
    }
}
