//! A test in the formats of fio: 700 reads and 300 writes per second of 8 KiB, by four jobs at depth 16.

pub const JSON_3: &str = r#"{
  "fio version" : "fio-3.36",
  "timestamp" : 1700000000,
  "global options" : {
    "ioengine" : "libaio",
    "iodepth" : "16",
    "group_reporting" : "1",
    "filename" : "/dev/nvme9n9"
  },
  "jobs" : [
    {
      "jobname" : "mix",
      "groupid" : 0,
      "error" : 0,
      "eta" : 0,
      "job options" : { "rw" : "randrw", "rwmixread" : "70", "bs" : "8k", "group_reporting" : "1", "numjobs" : "4", "iodepth" : "16", "ioengine" : "libaio" },
      "read" : {
        "io_bytes" : 57344000, "bw_bytes" : 5734400, "bw" : 5600, "iops" : 700.0, "runtime" : 10000, "total_ios" : 7000,
        "slat_ns" : { "min" : 1, "max" : 2, "mean" : 1.0, "stddev" : 0.1, "N" : 7000 },
        "clat_ns" : { "mean" : 399000.0, "percentile" : { "50.000000" : 300000, "99.000000" : 900000 } },
        "lat_ns" : { "min" : 1, "max" : 2, "mean" : 400000.0, "stddev" : 0.1, "N" : 7000 }
      },
      "write" : {
        "io_bytes" : 24576000, "bw_bytes" : 2457600, "bw" : 2400, "iops" : 300.0, "runtime" : 10000, "total_ios" : 3000,
        "clat_ns" : { "mean" : 1399000.0, "percentile" : { "50.000000" : 900000, "99.000000" : 1900000 } },
        "lat_ns" : { "mean" : 1400000.0 }
      },
      "trim" : { "io_bytes" : 0, "bw_bytes" : 0, "bw" : 0, "iops" : 0, "runtime" : 0, "total_ios" : 0 },
      "usr_cpu" : 1.5
    }
  ],
  "disk_util" : [ { "name" : "nvme9n9", "read_ios" : 1 } ]
}
"#;

pub const JSON_2: &str = r#"{
  "fio version" : "fio-2.17",
  "jobs" : [
    {
      "jobname" : "mix",
      "groupid" : 0,
      "error" : 0,
      "eta" : 0,
      "job options" : { "rw" : "randrw", "rwmixread" : "70", "bs" : "8k", "group_reporting" : "", "numjobs" : "4", "iodepth" : "16", "ioengine" : "libaio" },
      "read" : {
        "io_bytes" : 56000, "bw" : 5600, "iops" : 700.0, "runtime" : 10000, "total_ios" : 7000,
        "slat" : { "min" : 1, "max" : 2, "mean" : 1.0, "stddev" : 0.1 },
        "clat" : { "mean" : 399.0, "percentile" : { "50.000000" : 300, "99.000000" : 900, "0.00" : 0, "0.00" : 0 } },
        "lat" : { "min" : 1, "max" : 2, "mean" : 400.0, "stddev" : 0.1 }
      },
      "write" : {
        "io_bytes" : 24000, "bw" : 2400, "iops" : 300.0, "runtime" : 10000, "total_ios" : 3000,
        "clat" : { "mean" : 1399.0, "percentile" : { "50.000000" : 900 } },
        "lat" : { "mean" : 1400.0 }
      }
    }
  ]
}
"#;

pub const TEXT_3: &str = "\
mix: (g=0): rw=randrw, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=16
...
fio-3.36
Starting 4 processes

mix: (groupid=0, jobs=4): err= 0: pid=11: Wed Mar 11 17:13:09 2026
  read: IOPS=700, BW=5600KiB/s (5734kB/s)(54.7MiB/10000msec)
    slat (nsec): min=1766, max=482068k, avg=30422.57, stdev=1091010.13
    clat (usec): min=3, max=1130.9k, avg=399.00, stdev=24413.08
     lat (usec): min=129, max=1130.9k, avg=400.00, stdev=24446.56
    clat percentiles (usec):
     |  1.00th=[  157], 50.00th=[  300], 99.00th=[ 20579],
     | 99.99th=[759170]
   bw (  KiB/s): min=  179, max=14584, per=100.00%, avg=2805.20, stdev=346.34, samples=1197
   iops        : min=   44, max= 3646, avg=701.29, stdev=86.60, samples=1197
  write: IOPS=300, BW=2400KiB/s (2458kB/s)(23.4MiB/10000msec); 0 zone resets
    slat (usec): min=2, max=472803, avg=31.88, stdev=1613.57
    clat (usec): min=3, max=935692, avg=1399.00, stdev=24764.71
     lat (usec): min=80, max=935714, avg=1400.00, stdev=24884.20
    clat percentiles (usec):
     |  1.00th=[  120], 50.00th=[  900], 99.00th=[ 20579],
  lat (usec)   : 4=0.01%, 10=0.03%, 20=0.01%, 50=0.01%, 100=0.06%
  lat (msec)   : 2=2.42%, 4=2.79%, 10=2.88%, 20=1.67%, 50=0.48%
  cpu          : usr=1.37%, sys=2.79%, ctx=512184, majf=0, minf=28
  IO depths    : 1=80.6%, 2=14.9%, 4=1.4%, 8=0.1%, 16=0.1%, 32=2.9%, >=64=0.0%
     issued rwts: total=7000,3000,0,0 short=0,0,0,0 dropped=0,0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=16

Run status group 0 (all jobs):
   READ: bw=5600KiB/s (5734kB/s), 5600KiB/s-5600KiB/s (5734kB/s-5734kB/s), io=54.7MiB (57.3MB), run=10000-10000msec
";

pub const TEXT_2: &str = "\
mix: (g=0): rw=randrw, bs=8K-8K/8K-8K/8K-8K, ioengine=libaio, iodepth=16
...
fio-2.2.10
Starting 4 processes

mix: (groupid=0, jobs=4): err= 0: pid=4692: Tue Apr  4 17:34:19 2017
  read : io=56000KB, bw=5600KB/s, iops=700, runt= 10000msec
    slat (usec): min=2, max=124848, avg=99.12, stdev=331.96
    clat (usec): min=19, max=130576, avg=399.00, stdev=1585.58
     lat (usec): min=127, max=130586, avg=400.00, stdev=1662.57
    clat percentiles (usec):
     |  1.00th=[  157], 50.00th=[  300], 99.99th=[30848]
    bw (KB  /s): min=10171, max=50144, per=12.50%, avg=20117.03, stdev=3954.73
  write: io=24000KB, bw=2400KB/s, iops=300, runt= 10000msec
    clat (usec): min=19, max=130576, avg=1399.00, stdev=1585.58
     lat (usec): min=127, max=130586, avg=1400.00, stdev=1662.57
    clat percentiles (usec):
     |  1.00th=[  157], 50.00th=[  900], 99.99th=[30848]
    lat (usec) : 20=0.01%, 50=0.01%, 100=0.01%, 250=0.09%, 500=0.35%
    lat (msec) : 2=17.76%, 4=62.04%, 10=18.74%, 20=0.13%, 50=0.05%
  cpu          : usr=1.31%, sys=6.78%, ctx=379532, majf=0, minf=89
     issued    : total=r=7000/w=3000/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=56000KB, aggrb=5600KB/s, minb=5600KB/s, maxb=5600KB/s, mint=10000msec, maxt=10000msec
";
