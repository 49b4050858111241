// Facts from a machine that is made up.
#include "collector/base/environment.h"

#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

class Environment : public ::testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) {
    test::fs::create_directories((root_ / path).parent_path());
    test::write_file(root_ / path, text);
  }
  std::map<std::string, std::string> facts() {
    std::map<std::string, std::string> found;
    for (const NamedValue& fact : describe_environment({root_.path(), root_ / "work"}))
      found[fact.name] = fact.value;
    return found;
  }

  test::TempFolder root_;
};

TEST_F(Environment, CpuOfTwoSockets) {
  std::string cpuinfo;
  for (int i = 0; i < 8; ++i) {
    cpuinfo += fmt::format("processor\t: {}\nmodel name\t: Xeon Platinum 8480+\nphysical id\t: {}\ncore id\t\t: {}\n\n",
                           i, i % 2, i / 4);
  }
  file("proc/cpuinfo", cpuinfo);
  file("proc/meminfo", "MemTotal:       2113454184 kB\nMemFree: 1 kB\n");
  auto f = facts();
  EXPECT_EQ(f["cpu.model"], "Xeon Platinum 8480+");
  EXPECT_EQ(f["cpu.sockets"], "2");
  EXPECT_EQ(f["cpu.cores"], "4");
  EXPECT_EQ(f["cpu.threads"], "8");
  EXPECT_EQ(f["memory.total_bytes"], std::to_string(2113454184LL * 1024));
  EXPECT_EQ(f.count("container"), std::getenv("container") == nullptr ? 0U : 1U);
}

TEST_F(Environment, ArmHasPartsInsteadOfAModel) {
  file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
  EXPECT_EQ(facts()["cpu.model"], "implementer and part 0x41 0xd4f");
}

TEST_F(Environment, CgroupV2LimitsCountOnEveryLevel) {
  file("proc/self/cgroup", "0::/slice/job\n");
  EXPECT_EQ(cgroup_cores(root_.path()), std::nullopt);
  file("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cores(root_.path()), std::nullopt);
  file("sys/fs/cgroup/slice/cpu.max", "250000 100000\n");
  EXPECT_EQ(cgroup_cores(root_.path()), 2.5);
  file("sys/fs/cgroup/slice/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_cores(root_.path()), 0.5);
  EXPECT_EQ(facts()["cpu.cores_cgroup"], "0.5");
  EXPECT_EQ(facts()["cpu.cores_allowed"], "0.5");
  file("sys/fs/cgroup/slice/memory.max", "1073741824\n");
  EXPECT_EQ(facts()["memory.cgroup_bytes"], "1073741824");
}

TEST_F(Environment, CgroupV2OfAContainerThatSeesOnlyItsOwnPart) {
  file("proc/self/cgroup", "0::/docker/0123456789\n");
  file("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_cores(root_.path()), 4.0);
}

TEST_F(Environment, CgroupV1) {
  file("proc/self/cgroup", "11:memory:/user\n4:cpu,cpuacct:/batch/job7\n1:name=systemd:/x\n");
  file("sys/fs/cgroup/cpu,cpuacct/batch/job7/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu,cpuacct/batch/job7/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cores(root_.path()), std::nullopt);
  file("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "800000\n");
  file("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cores(root_.path()), 8.0);
  file("sys/fs/cgroup/memory/user/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(facts().count("memory.cgroup_bytes"), 0U);
}

TEST_F(Environment, GitOfAWorkingFolder) {
  file("work/.git/HEAD", "ref: refs/heads/main\n");
  file("work/.git/packed-refs",
       "# pack-refs with: peeled fully-peeled sorted\n1111111111111111111111111111111111111111 refs/heads/old\n"
       "2222222222222222222222222222222222222222 refs/heads/main\n");
  EXPECT_EQ(facts()["git.commit"], "2222222222222222222222222222222222222222");
  EXPECT_EQ(facts()["git.branch"], "main");
  file("work/.git/refs/heads/main", "3333333333333333333333333333333333333333\n");
  EXPECT_EQ(facts()["git.commit"], "3333333333333333333333333333333333333333");
  file("work/.git/HEAD", "4444444444444444444444444444444444444444\n");
  EXPECT_EQ(facts()["git.commit"], "4444444444444444444444444444444444444444");
}

TEST_F(Environment, GitOfAnAddedWorkTree) {
  file("main/.git/refs/heads/topic", "5555555555555555555555555555555555555555\n");
  file("main/.git/worktrees/t/HEAD", "ref: refs/heads/topic\n");
  file("main/.git/worktrees/t/commondir", "../..\n");
  file("work/.git", "gitdir: " + (root_ / "main/.git/worktrees/t").string() + "\n");
  EXPECT_EQ(facts()["git.commit"], "5555555555555555555555555555555555555555");
}

TEST_F(Environment, GpusAsTheDriverListsThem) {
  file("proc/driver/nvidia/version",
       "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build\nGCC version: 12.2.0\n");
  for (const char* bus : {"0000:9a:00.0", "0000:17:00.0"}) {
    file(fmt::format("proc/driver/nvidia/gpus/{}/information", bus),
         fmt::format("Model: \t\t NVIDIA H200\nIRQ:   \t\t 7\nGPU UUID: \t GPU-{}\n", bus));
    file(fmt::format("sys/bus/pci/devices/{}/numa_node", bus), bus[5] == '9' ? "1\n" : "0\n");
  }
  auto f = facts();
  EXPECT_EQ(f["cuda.driver"], "580.159.03");
  EXPECT_EQ(f["gpu.0.bus"], "0000:17:00.0");
  EXPECT_EQ(f["gpu.0.name"], "NVIDIA H200");
  EXPECT_EQ(f["gpu.1.uuid"], "GPU-0000:9a:00.0");
  EXPECT_EQ(f["gpu.1.numa_node"], "1");
  EXPECT_EQ(f.count("gpu.2.bus"), 0U);
}

TEST_F(Environment, ListedVariablesHoldNoSecrets) {
  for (const char* name : {"NCCL_ALGO", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID",
                           "OMPI_COMM_WORLD_RANK", "MASTER_ADDR", "RANK", "WORLD_SIZE"}) {
    EXPECT_TRUE(is_listed_variable(name)) << name;
  }
  for (const char* name :
       {"PATH", "HOME", "AWS_SECRET_ACCESS_KEY", "RANKED", "SLURM_JWT_TOKEN", "MY_NCCL_ALGO", "OMPI_SECRET", "",
        // What people or plugins put behind the prefix of a product.
        "NCCL_AUTH", "NCCL_AUTH_BACKEND", "NCCL_NET_PLUGIN_AUTH", "SLURM_JOB_COMMENT", "SLURM_JOB_ACCOUNT",
        "SLURM_JOB_EXTRA", "OMPI_ARGV", "OMPI_COMMAND", "TORCH_HUB_CREDENTIALS", "CUDA_LICENSE_PASSPHRASE"}) {
    EXPECT_FALSE(is_listed_variable(name)) << name;
  }
}

TEST(AllowedCores, IsWhatThisProcessMayUse) {
  EXPECT_GT(allowed_cores(), 0);
  EXPECT_LE(allowed_cores(), 8192);
}

}  // namespace
}  // namespace swinscope
