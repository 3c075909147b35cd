/// Returns a random epoch, or a random name of a node: 20 letters and digits, 119 bits.
func makeRandomName() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<20).map { _ in letters.randomElement(using: &generator)! })
}
