public import ArgumentParser
import Commands
import Transport

/// The command `backscroll-tools load`: loads a server and judges the deliveries to its subscribers.
///
/// Exit status: 0 if the run succeeded, 1 if the verdict is bad, 2 if the run could not begin, 64 (`EX_USAGE`) if an
/// option is invalid.
public struct LoadCommand: AsyncParsableCommand {
    /// The command's name and its help.
    public static let configuration = CommandConfiguration(
        commandName: "load", abstract: LoadHelp.abstract, discussion: LoadHelp.discussion)

    @Argument(help: "The address of a Backscroll server, such as http://127.0.0.1:8080.")
    var server: String?

    @OptionGroup(title: "Load")
    var load: LoadArguments

    @OptionGroup(title: "Disturbances")
    var disturbances: DisturbanceArguments

    @OptionGroup(title: "Timing")
    var timing: TimingArguments

    @OptionGroup(title: "Other servers, by templates")
    var templates: TemplateArguments

    @OptionGroup(title: "This tool")
    var tool: ToolArguments

    /// Creates a command; for the parser.
    public init() {}

    /// Checks that the options describe a run.
    public func validate() throws {
        do throws(LoadError) {
            _ = try PlanBuilder(self).plan(run: 1)
            if tool.cleanUp { _ = try PlanBuilder(self).roomRequests("DELETE", run: 1) }
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// Loads the server. Prints the report to standard output and the progress to standard error.
    public func run() async throws {
        let console = Console(isQuiet: tool.json)
        do {
            let plan = try PlanBuilder(self).plan(run: .random(in: 1...Int64(Int32.max)))
            Interruption.watch()
            let rooms = tool.cleanUp ? try RunRooms(PlanBuilder(self), run: plan.run, console: console) : nil
            try await rooms?.make()
            let outcome: Result<Report, any Error>
            do { outcome = .success(try await LoadRun(plan, console: console).run()) } catch {
                outcome = .failure(error)
            }
            // Deletes the rooms even if the run could not begin, because they exist already.
            try await rooms?.delete()
            let report = try outcome.get()
            print(tool.json ? report.json : ReportText(report).text)
            guard report.isGood else { throw ExitCode(1) }
        } catch let error where error is LoadError || error is TransportError {
            console.clear()
            Console().note("backscroll-tools load: \(error)")
            throw ExitCode(2)
        }
    }
}
