# One layout wherever it goes: a prefix, or the Python package's folder in a wheel.

include(CMakePackageConfigHelpers)

set(packages ${CMAKE_CURRENT_BINARY_DIR}/packages)
set(config_folder lib/cmake/deltatape)

install(TARGETS deltatape EXPORT deltatape LIBRARY DESTINATION lib INCLUDES DESTINATION include)
install(DIRECTORY native/include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
install(
  EXPORT deltatape
  FILE deltatapeTargets.cmake
  NAMESPACE deltatape::
  DESTINATION ${config_folder}
)

configure_package_config_file(
  cmake/deltatapeConfig.cmake.in
  ${packages}/deltatapeConfig.cmake
  INSTALL_DESTINATION ${config_folder}
)
write_basic_package_version_file(
  ${packages}/deltatapeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion
)
install(
  FILES ${packages}/deltatapeConfig.cmake ${packages}/deltatapeConfigVersion.cmake
  DESTINATION ${config_folder}
)

configure_file(cmake/deltatape.pc.in ${packages}/deltatape.pc @ONLY)
install(FILES ${packages}/deltatape.pc DESTINATION lib/pkgconfig)

if(SKBUILD)
  find_package(Python COMPONENTS Interpreter REQUIRED)
  set(
    headers
    ${CMAKE_CURRENT_SOURCE_DIR}/native/include/deltatape.h
    ${CMAKE_CURRENT_SOURCE_DIR}/native/include/deltatape_cuda.h
  )
  set(generator ${CMAKE_CURRENT_SOURCE_DIR}/cmake/generate_abi.py)
  set(module ${CMAKE_CURRENT_BINARY_DIR}/_abi.py)
  add_custom_command(
    OUTPUT ${module}
    COMMAND ${Python_EXECUTABLE} ${generator} ${headers} ${module}
    DEPENDS ${generator} ${headers}
    VERBATIM
  )
  add_custom_target(abi_module ALL DEPENDS ${module})
  install(FILES ${module} DESTINATION .)
else()
  # A wheel would store each symbolic link as one more copy of the library.
  set_target_properties(
    deltatape
    PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  )
endif()
