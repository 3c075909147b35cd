/// What no server should do, and a client must bear.
extension Feed {
    /// Sends one message once more to those subscribers that have had it and take it at once. Only a server that is
    /// told to misbehave does so; what the feed keeps stays as it is.
    ///
    /// - Parameter batch: of one message.
    public func pushAgain(_ batch: EncodedBatch) {
        finishRounds()
        for subscriber in subscribers {
            switch subscriber.format {
            case .webSocket: subscriber.pushAgain(batch.frames, of: batch.firstRev)
            case .deflatedWebSocket: subscriber.pushAgain(batch.deflated(by: deflater).bytes, of: batch.firstRev)
            case .serverSentEvents: subscriber.pushAgain(batch.events(epoch: epoch).bytes, of: batch.firstRev)
            }
        }
    }
}
