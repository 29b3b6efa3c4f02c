// Two devices that do what a test tells them, to see what native/abi makes of it.
#ifndef DTAPE_TESTS_SCRIPTED_HOSTS_H
#define DTAPE_TESTS_SCRIPTED_HOSTS_H

#include "hosts.h"

struct Script {
  dtape_status open = DTAPE_OK;  // what opening metal reports
  dtape_status wait = DTAPE_OK;  // what waiting reports
  bool out_of_memory = false;    // metal's replay throws std::bad_alloc
  int open_devices = 0;
  int open_streams = 0;
  dtape_ssm_replay_request replay = {};  // the last request
};

extern Script script;

#endif
