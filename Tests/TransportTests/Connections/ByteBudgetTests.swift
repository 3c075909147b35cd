import Testing

@testable import Transport

@Suite("A byte budget")
struct ByteBudgetTests {
    @Test func `refuses to exceed its limit, and leaves the share unchanged`() {
        let budget = ByteBudget(limit: 100)
        var first = ByteBudget.Share(of: budget)
        var second = ByteBudget.Share(of: budget)
        // Macros do not accept noncopyable values.
        let fits = [first.resize(to: 60), second.resize(to: 41), second.resize(to: 40)]
        #expect(fits == [true, false, true])
        #expect(budget.used == 100 && !budget.hasRoom(for: 1))
        let moved = [first.resize(to: 10), second.resize(to: 90), first.resize(to: .max)]
        #expect(moved == [true, true, false])
        #expect(budget.used == 100)
    }

    @Test func `gets a share back when the share ends`() {
        let budget = ByteBudget(limit: 100)
        func hold() {
            var share = ByteBudget.Share(of: budget)
            let isHeld = share.resize(to: 70)
            #expect(isHeld)
            let taken = share.take()
            let counts = [share.count, taken.count, budget.used]
            #expect(counts == [0, 70, 70])
        }
        hold()
        #expect(budget.used == 0)
    }
}
