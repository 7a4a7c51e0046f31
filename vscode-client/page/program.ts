/** Runs commands of the page. Its memory has run this already, as that takes most of a start. */
export const program = `
import gc, os, sys
sys.path.insert(0, "/packages")
gc.disable()
from click.testing import CliRunner
from drive_trace.commands import cli
from drive_trace.commands import check, report
gc.freeze()

def run(folder, command):
    os.chdir(folder)
    ran = CliRunner().invoke(cli, list(command), catch_exceptions=False, prog_name="drive-trace")
    gc.collect()
    return ran.stdout, ran.stderr
`;
