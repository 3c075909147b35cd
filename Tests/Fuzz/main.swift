// SwiftPM's start of the program; libFuzzer's own does the same.
var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
_ = runDriver(&count, &arguments, testOneInput)
