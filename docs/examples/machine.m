num_pes: 1024
noc_bw_cstr: 1024
