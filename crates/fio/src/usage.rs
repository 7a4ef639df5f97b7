//! Help text of `plimsoll fio`.

use plimsoll_language::label;

/// The output of `--help` in the language of the reader.
pub fn help() -> &'static str {
    label!(
        "\
plimsoll fio [option] [job options] <job file(s)>

Runs fio jobs on plimsoll's engine, with fio's output formats.
Job options are those of fio: --name=NAME begins a job; options before the first apply to all.

  --parse-only                  parse jobs and report errors without running them
  --showcmd                     print job files as command lines
  --cmdhelp[=OPTION]            values and support of an option
  --enghelp[=ENGINE]            support of an engine
  --section=NAME                run only jobs with this name (repeatable)
  --readonly                    refuse jobs that write
  --max-jobs=NUMBER             maximum number of jobs including clones
  --warnings-fatal              treat warnings as errors

  --output=FILE                 write results to this file
  --output-format=FORM,...      normal, terse, json, json+
  --minimal                     terse only; --append-terse adds terse to others
  --terse-version=NUMBER        2 to 5
  --eta=WHEN                    progress: always, never, auto (on a terminal)
  --eta-newline=TIME            print progress on a new line at this interval
  --eta-interval=MILLISECONDS   interval of progress
  --status-interval=TIME        print results at this interval
  --version, --help

Options of plimsoll:
  --destroy=PATH                allow writing to this existing file or device, exactly as in
                                the job: ITS DATA ARE LOST. Not needed for files created by jobs
  --on=CONFIG                   run on a product or stages in virtual time, or on an
                                export of an NBD server (nbd://HOST/NAME), instead of the jobs' files
  --on=PATH=CONFIG              the files below PATH are on this disk of the server (repeatable)
  --machine=CONFIG              the machine whose limits these disks share
  --lenient                     ignore unsupported options, with a note
  --notes=FILE                  write notes on the jobs to this file, - for standard error
  --seed=NUMBER                 seed of all random numbers
  --html=FILE                   also write an HTML page of the results
  --markdown=FILE               also write it as Markdown
  --csv=FILE                    also write its tables as CSV

Not supported: fio's client and server modes, triggers, profiles, engines for networks,
metadata, persistent memory and storage services, zoned devices, polling, I/O priorities.
Results are printed on standard output, errors on standard error. Notes about deviations from fio
are written to the file of --notes; without it they are shown on terminals only.
"
    )
}
