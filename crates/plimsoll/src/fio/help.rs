//! What `plimsoll fio --help` says: flags, and what becomes of jobs.

/// The whole text.
pub const HELP: &str = "\
plimsoll fio [option] [job options] <job file(s)>

Runs jobs in fio's language on plimsoll's own engine, and prints what fio prints.
Job options are fio's: --name=NAME begins a job, options before the first are of all.

  --parse-only                  read jobs, say what is wrong with them, run nothing
  --showcmd                     say job files as command lines, run nothing
  --cmdhelp[=OPTION]            what an option takes, and what becomes of it here
  --enghelp[=ENGINE]            what becomes of an engine here
  --section=NAME                run jobs of this name only (may be repeated)
  --readonly                    refuse jobs that write
  --max-jobs=NUMBER             jobs with their copies, at most
  --warnings-fatal              what is only worth a word becomes an error

  --output=FILE                 results go to this file
  --output-format=FORM,...      normal, terse, json, json+
  --minimal                     terse only; --append-terse adds it to others
  --terse-version=NUMBER        2 to 5
  --eta=WHEN                    progress: always, never, auto (on a terminal)
  --eta-newline=TIME            progress in a new line so often
  --eta-interval=MILLISECONDS   progress so often
  --status-interval=TIME        results so often, while jobs run
  --version, --help

plimsoll's own:
  --destroy=PATH                allow writing to this existing file or device, letter for letter as in
                                the job: ITS DATA ARE LOST. Files that a job made need no leave
  --on=CONFIG                   run on a product of the catalogue or on stages in virtual time, or on an
                                export of an NBD server (nbd://HOST/NAME), instead of the jobs' files
  --lenient                     leave out options that plimsoll does not do, with a note
  --notes=FILE                  write notes on the jobs to this file, - for standard error
  --seed=NUMBER                 of all random numbers

Left out, and refused by name: clients and servers of fio, triggers, profiles, engines for networks,
metadata, persistent memory and single stores, zoned devices, polling, priorities of operations.
Results go to standard output, and errors to standard error. Notes on what runs otherwise than its words suggest
go to the file of --notes; without it they are shown on a terminal only, as fio is silent too.
";
