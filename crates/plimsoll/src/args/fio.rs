//! Arguments of `plimsoll fio`, which are passed on unparsed.

use clap::Args;

pub(super) const FIO_EXAMPLES: &str = "\
Examples:
  plimsoll fio job.fio                                  run a job file
  plimsoll fio --name=r --rw=randread --bs=8k --iodepth=16 --ioengine=libaio --direct=1 --size=1g --runtime=10
  plimsoll fio --output-format=json+ job.fio            output for tools that parse fio's JSON
  plimsoll fio --on oci:500GB@20vpu job.fio             simulated on a product of the catalogue
  plimsoll fio --destroy /dev/sdx job.fio               THE DATA OF /dev/sdx ARE LOST
  plimsoll fio --cmdhelp=bssplit                        support of an option";

/// `plimsoll fio`
#[derive(Debug, Args)]
pub struct FioArgs {
    /// fio's options and job files, and --destroy PATH, --on CONFIG, --lenient, --notes FILE, --seed NUMBER, --html FILE, --markdown FILE, --csv FILE; see --help
    #[arg(value_name = "OPTION|FILE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}
