//! Names of error numbers.

/// The symbolic name of a Linux error number, such as `EIO`; `errno 999` for numbers that are uncommon for storage.
pub fn errno(number: i32) -> String {
    let name = match number {
        1 => "EPERM",
        2 => "ENOENT",
        4 => "EINTR",
        5 => "EIO",
        6 => "ENXIO",
        9 => "EBADF",
        11 => "EAGAIN",
        12 => "ENOMEM",
        13 => "EACCES",
        14 => "EFAULT",
        16 => "EBUSY",
        19 => "ENODEV",
        22 => "EINVAL",
        27 => "EFBIG",
        28 => "ENOSPC",
        30 => "EROFS",
        32 => "EPIPE",
        52 => "EBADE",
        61 => "ENODATA",
        62 => "ETIME",
        67 => "ENOLINK",
        74 => "EBADMSG",
        75 => "EOVERFLOW",
        84 => "EILSEQ",
        95 => "EOPNOTSUPP",
        110 => "ETIMEDOUT",
        116 => "ESTALE",
        117 => "EUCLEAN",
        121 => "EREMOTEIO",
        122 => "EDQUOT",
        123 => "ENOMEDIUM",
        125 => "ECANCELED",
        _ => return format!("errno {number}"),
    };
    name.into()
}
