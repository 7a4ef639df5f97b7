//! Arguments of `plimsoll fio`: fio's own, handed on as they are.

use clap::Args;

pub(super) const FIO_EXAMPLES: &str = "\
Examples:
  plimsoll fio job.fio                                  the job file, run by plimsoll's engine, told as fio tells it
  plimsoll fio --name=r --rw=randread --bs=8k --iodepth=16 --ioengine=libaio --direct=1 --size=1g --runtime=10
  plimsoll fio --output-format=json+ job.fio            what readers of fio's results read
  plimsoll fio --on oci:500GB@20vpu job.fio             the same on a product of the catalogue, simulated
  plimsoll fio --destroy /dev/sdx job.fio               THE DATA OF /dev/sdx ARE LOST
  plimsoll fio --cmdhelp=bssplit                        what becomes of an option of fio";

/// `plimsoll fio`
#[derive(Debug, Args)]
pub struct FioArgs {
    /// fio's options and job files, and --destroy PATH, --on CONFIG, --lenient, --notes FILE, --seed NUMBER; --help lists them
    #[arg(value_name = "OPTION|FILE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}
