# Gives up what a decoder has no need of, and becomes the command:
#
#   perl confine.pl <prlimit64> <prctl> <data bytes> <filter> <read:path | execute:path>... -- <command> <argument>...
#
# The first two are the numbers of these system calls; the filter is a seccomp program in hexadecimal, in which
# deadbeef (little-endian) stands for the process's own id. Perl because every Debian and Ubuntu has it, it calls the
# system by number, and Node does not.
#
# A step that the system refuses is left out: the process looks for itself what holds, and the worker logs it.
use strict;
use warnings;
no warnings 'exec';

my ($prlimit64, $prctl, $data_bytes, $filter, @rest) = @ARGV;
my (@rules, @command);
while (defined(my $word = shift @rest)) {
  if ($word eq '--') { @command = @rest; last }
  push @rules, $word;
}

# Data segment, heap and private mappings; file size, so that nothing can be written; core dumps, which would hold the
# image; files.
my %limits = (2 => $data_bytes, 1 => 0, 4 => 0, 7 => 64);
syscall($prlimit64 + 0, 0, $_ + 0, pack('QQ', ($limits{$_}) x 2), 0) for keys %limits;

# The leash: descriptor 4, whose other end the worker alone holds. When it closes, however the worker ended, the kernel
# sends SIGKILL, which reaches a process that hangs as well. (A parent-death signal would be lost with root.)
$^F = 4;
if (open(my $leash, '+<&=', 4)) {
  my ($getfl, $setfl, $setown, $setsig, $async) = (3, 4, 8, 10, 020000);
  # Plus 0: given a variable that was used as a string, fcntl would pass an address.
  fcntl($leash, $setown, $$ + 0);
  fcntl($leash, $setsig, 9);
  fcntl($leash, $setfl, fcntl($leash, $getfl, 0) | $async);
}

# Without this an unprivileged process may apply neither of the next two.
syscall($prctl + 0, 38, 1, 0, 0, 0);

# Landlock: what is handled and has no rule is refused. Each version of it knows more to handle.
my $version = syscall(444, 0, 0, 1);
if ($version > 0) {
  my ($execute, $read_file, $read_dir) = (1, 4, 8);
  my $files = $version >= 5 ? 0xffff : $version >= 3 ? 0x7fff : $version >= 2 ? 0x3fff : 0x1fff;
  my $attributes = pack('QQQ', $files, $version >= 4 ? 3 : 0, $version >= 6 ? 3 : 0);
  my $ruleset = syscall(444, $attributes, $version >= 6 ? 24 : $version >= 4 ? 16 : 8, 0);
  for (@rules) {
    my ($kind, $path) = split /:/, $_, 2;
    # By reference alone (O_PATH), which needs no right to read.
    sysopen(my $place, $path, 010000000) or next;
    my $access = $read_file | (-d $path ? $read_dir : 0) | ($kind eq 'execute' ? $execute : 0);
    syscall(445, $ruleset, 1, pack('Ql', $access, fileno $place), 0);
  }
  syscall(446, $ruleset, 0);
}

my $own_id = pack('L', $$ + 0);
(my $program = pack('H*', $filter)) =~ s/\xef\xbe\xad\xde/$own_id/g;
syscall($prctl + 0, 22, 2, pack('Sx6P', length($program) / 8, $program), 0, 0) if length $program;

exec { $command[0] } @command or die "$command[0]: $!\n";
